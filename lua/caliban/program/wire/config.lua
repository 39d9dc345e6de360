---@meta
--- The settings that the program needs; part of wire.lua.

--------------------------------------------------------------------------------------------- to the program

---@class (exact) caliban.WireConfig
---@field model? string
---@field providers? table<string, caliban.ProviderConfig>
---@field models? table<string, caliban.ModelConfig>
---@field thinking? 'off'|'low'|'medium'|'high'|'max'
---@field temperature? number
---@field max_output? integer
---@field mode 'plan'|'ask'|'auto-edit'
---@field resume boolean|'open'
---@field debug boolean
---@field system? string
---@field system_file? string
---@field no_system boolean
---@field instructions boolean read AGENTS.md and its like
---@field titles boolean ask the model for a title after the first turn
---@field pass_env string[] variables that commands get even if they look like secrets
---@field probe boolean look for a model server on this machine when nothing is configured

---@class (exact) caliban.ProviderConfig
---@field dialect? 'anthropic'|'openai-chat'|'openai-responses'|'gemini'|'ollama'
---@field base_url? string
---@field key? string `env:NAME`, or `cmd:COMMAND`
---@field models? string[]
---@field quirks? string[]
---@field headers? table<string, string> a text, or `env:NAME`

--- What the user knows of one model.
---@class (exact) caliban.ModelConfig
---@field window? integer tokens
---@field max_output? integer tokens
---@field thinking? 'off'|'low'|'medium'|'high'|'max'
---@field temperature? number
---@field price? caliban.PriceConfig
---@field num_ctx? integer tokens: the window a server on this machine is told to give it
---@field edits? 'replace'|'patch'|'whole' how it writes its edits

--- USD per million tokens.
---@class (exact) caliban.PriceConfig
---@field input number
---@field output number
---@field cache_read? number
---@field cache_write? number

--------------------------------------------------------------------------------------------- to the editor
