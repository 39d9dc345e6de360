---@meta
--- The messages from the editor to the program. Generated from the types in `src/nvim/wire.rs`: change these, then
--- run `UPDATE_EXPECT=1 cargo test --lib wire::lua`.
---
--- A text is one string: its lines joined by `\n`, without a newline at the end. `eol` says whether the file's last
--- line ends in a newline. Lines are counted from 0, and ranges are half open, unless the field says otherwise.

--- The handshake: the first message, sent once. The answer is `welcome`.
---@class (exact) caliban.Hello
---@field kind 'hello'
---@field version string The plugin's version.
---@field nvim string Neovim's version.
---@field cwd string
---@field reviews string[] Absolute paths of the files that are under review.
---@field leader string The local leader, as the user types it.
---@field config caliban.WireConfig

---@class (exact) caliban.WireConfig
---@field model? string
---@field subagent_model? string The model of subagents. If absent, a subagent has the model of its parent.
---@field providers? table<string, caliban.ProviderConfig>
---@field models? table<string, caliban.ModelConfig>
---@field thinking? 'off'|'low'|'medium'|'high'|'max'
---@field temperature? number
---@field max_output? integer
---@field trim? number|boolean When the conversation fills this share of the context window, old tool results are
--- trimmed.
---@field compact? number|boolean When the conversation fills this share of the context window, the conversation is
--- compacted.
---@field mode 'plan'|'ask'|'auto-edit'|'auto'
---@field resume boolean|'open' Whether `:Caliban` opens the session that was used last. With `open`, the chat is also
--- shown when Neovim starts.
---@field debug boolean
---@field system? string
---@field system_file? string
---@field no_system boolean
---@field instructions 'always'|'never'|'ask' Whether `AGENTS.md` and files like it are used.
---@field probe boolean Whether to look for a model server on this machine if no provider is configured.
---@field titles boolean Whether to ask the model for a title after the first turn.
---@field limit? caliban.LimitConfig The most tokens and money that may be spent before the user is asked.
---@field pass_env string[] Environment variables that commands get even if they look like secrets.
---@field fetch_private? string[] Hosts, with or without a port, that may be fetched although they have private
--- network addresses.
---@field search? caliban.SearchConfig If absent, the model has no tool that searches the web.
---@field permissions? caliban.WrittenRule[] Rules that allow calls, ask about them or deny them.
---@field safe_commands? boolean Whether everyday commands run without a question if the sandbox is complete.
---@field sandbox? caliban.SandboxConfig
---@field mcp? table<string, caliban.ServerConfig> Servers of tools, by name.

---@class (exact) caliban.ProviderConfig
---@field dialect? 'anthropic'|'openai-chat'|'openai-responses'|'gemini'|'ollama'
---@field base_url? string
---@field key? string Where the key comes from: `env:NAME` or `cmd:COMMAND`.
---@field models? string[]
---@field quirks? string[]
---@field headers? table<string, string> Each value is a text or `env:NAME`.

--- A protocol spoken over HTTP. Its name in the configuration is the value of `providers.*.dialect`.
---@alias caliban.Dialect 'anthropic'|'openai-chat'|'openai-responses'|'gemini'|'ollama'

--- The user's settings for one model.
---@class (exact) caliban.ModelConfig
---@field window? integer The context window, in tokens.
---@field max_output? integer The longest reply, in tokens.
---@field thinking? 'off'|'low'|'medium'|'high'|'max'
---@field temperature? number
---@field price? caliban.PriceConfig
---@field num_ctx? integer The size of the context window, in tokens, that is requested from a server on this machine.
---@field vision? boolean Whether the model reads images.
---@field calls? 'native'|'text' How the model calls tools.
---@field edits? 'replace'|'patch'|'whole'
---@field trim? number|boolean
---@field compact? number|boolean

--- How hard a model should think before it answers, as the user chooses it.
---@alias caliban.Effort 'off'|'low'|'medium'|'high'|'max'

--- Prices in USD per million tokens.
---@class (exact) caliban.PriceConfig
---@field input number
---@field output number
---@field cache_read? number
---@field cache_write? number

--- How a model calls tools.
---@alias caliban.Calls
---| 'native' # In the form that the dialect has for it.
---| 'text' # In its text, because the server does not know the form of the model's calls.

--- The format in which a model writes edits, which depends on its training.
---@alias caliban.Format
---| 'replace' # Each edit gives the old and the new text. The tools are `edit` and `write`.
---| 'patch' # Patches in the format of `apply_patch`.
---| 'whole' # Whole files only, for models that are too small to repeat a text exactly.

---@alias caliban.Mode
---| 'plan' # The agent only reads: edits and commands are refused.
---| 'ask' # The user decides on each edit and each command.
---| 'auto-edit' # Edits are written at once and reviewed afterwards. The user decides on each command.
---| 'auto' # As `AutoEdit`, and commands run without a question if the sandbox is complete.

--- Whether `AGENTS.md` and files like it are used.
---@alias caliban.Instructions
---| 'always'
---| 'never'
---| 'ask' # The user is asked before texts of a project are used for the first time.

--- What a session and one turn may spend before the user is asked: money in USD, and tokens.
---@class (exact) caliban.LimitConfig
---@field usd? number
---@field tokens? integer
---@field turn_usd? number
---@field turn_tokens? integer

--- How the web is searched.
---@class (exact) caliban.SearchConfig
---@field provider? string The service: `searxng`, `brave`, `tavily` or `exa`. If absent, the model has no tool of
--- Caliban that searches.
---@field url? string
---@field key? string Where the key comes from: `env:NAME` or `cmd:COMMAND`.
---@field hosted? boolean Whether the provider of the model may search by itself, without a question.

--- A rule as the user writes it. Exactly one of `allow`, `ask` and `deny` is set; its value is a tool.
---@class (exact) caliban.WrittenRule
---@field allow? string
---@field ask? string
---@field deny? string
---@field command? string The first words of a command; `*` stands for any word.
---@field path? string A pattern for files, as in a `.gitignore`.
---@field host? string The name of a host, or `*.` and a domain.
---@field group? string The name of a group of hosts for `network`, such as `cargo`.
---@field reason? string
---@field matches? string[] Examples to which the rule has to apply.
---@field spares? string[] Examples to which the rule must not apply.

--- The sandbox of commands.
---@class (exact) caliban.SandboxConfig
---@field enabled boolean
---@field network boolean Whether commands may use the network.
---@field writable string[] Further folders in which commands may write files.

--- A server of tools: a program, or an address with `url`. Each text may name variables of the environment as
--- `${NAME}` or `${NAME:-default}`.
---@class (exact) caliban.ServerConfig
---@field command? string
---@field args? string[]
---@field env? table<string, string>
---@field cwd? string
---@field url? string
---@field headers? table<string, string> Headers of each request to the address.
---@field timeout? integer The longest time of one call, in seconds.
---@field startup_timeout? integer The longest time from the start of the program, or from the first request, to the
--- first answer, in seconds.
---@field disabled? boolean

--- Opens a session. The answer is a `session` message, then the transcript as `paint` messages.
---@class (exact) caliban.Open
---@field kind 'open'
---@field session? caliban.SessionId If absent, the program opens the session of this project that was used last, or
--- `main`.

--- A session's name: `[A-Za-z0-9_-]{1,64}`, unique within its project.
---@alias caliban.SessionId string

--- Opens a session without showing it, because its turn was interrupted or it has reviews. Sent when Neovim starts.
---@class (exact) caliban.Look
---@field kind 'look'
---@field session caliban.SessionId

--- Begins a new session. The current session stays as it is.
---@class (exact) caliban.New
---@field kind 'new'
---@field name? string If absent, the program makes a name.
---@field ephemeral boolean The session is never saved.
---@field agent? string The named agent that the session is.

--- A message of the user to the model.
---@class (exact) caliban.Send
---@field kind 'send'
---@field session caliban.SessionId
---@field text string
---@field context caliban.Excerpt[]
---@field steer boolean Whether the message goes with the next request of the running turn, instead of waiting for the
--- end of the turn.

--- A labelled piece of text from a file, a buffer or a folder.
---@class (exact) caliban.Excerpt
---@field path string The path as the user would write it: relative to the project's root if it lies in the project.
---@field lines? [integer, integer] The first and the last line, from 1, inclusive. If absent, the excerpt is the
--- whole file.
---@field filetype? string
---@field kind 'file'|'folder'|'selection'|'diagnostics'|'diff'|'clipboard'|'instructions'|'skills'|'agents'|'skill'|'command'|'changes'|'hunk'|'buffer'|'list'|'page'|'answers'|'plan'|'remark'|'result'
---@field text string
---@field note? string A few words for the model and the user: what was cut from the text, or why there is no text.
---@field keyword? string The keyword in the message that brought the excerpt, for example `buffer`, or the slash
--- command that the user typed, for example `/review main`; mostly empty.
---@field tools? string[] Of a command: the tools that the model may call in the command's turn, such as `read` or
--- `shell(git add)`. Empty if the command allows all.
---@field image? caliban.Image The image that goes with the text. The text says in words which image it is.

---@alias caliban.ExcerptKind
---| 'file'
---| 'folder'
---| 'selection'
---| 'diagnostics'
---| 'diff'
---| 'clipboard'
---| 'instructions' # A file in which the user or the project tells the model how to work. The user's own file is outside of the project.
---| 'skills' # The names and purposes of the skills that exist.
---| 'agents' # The names and purposes of the agents that tasks can be given to.
---| 'skill' # The text of one skill.
---| 'command' # The text of the user's own slash command that the message calls, with the message's arguments in it. The program makes this excerpt from the message when the message is sent.
---| 'changes' # The changes in a file since the model last saw it, without the model's own changes.
---| 'hunk' # A change under review, as a diff. The message that has this excerpt is the user's comment on the change.
---| 'buffer' # The text of a buffer that shows no file.
---| 'list' # A list in the editor: of the open files, the quickfix list, a location list.
---| 'page' # A web page. The excerpt's path is the page's address.
---| 'answers' # The user's answers to the model's questions. The program makes this excerpt. It has the model's words too, so its text is never taken for words of the user.
---| 'plan' # A plan, as the user approves it or sends it back.
---| 'remark' # Lines of a plan that is sent back, with the user's comment on them.
---| 'result' # The result of a worker, if its coordinator has not read the result with a tool.

---@class (exact) caliban.Image
---@field file string The name of the file with the content: the hash of the content, and `.png` or `.jpg`.
---@field width integer The size in pixels.
---@field height integer

--- Takes a message back out of the queue.
---@class (exact) caliban.Unqueue
---@field kind 'unqueue'
---@field session caliban.SessionId
---@field id integer
---@field edit? boolean Whether the message goes back into the composer.

--- Sends messages that were in the queue when the session was opened. They are held back until the user sends them.
---@class (exact) caliban.SendHeld
---@field kind 'send_held'
---@field session caliban.SessionId
---@field id? integer The message to send. If absent, all of these messages are sent.

--- The unsent text of the composer.
---@class (exact) caliban.Draft
---@field kind 'draft'
---@field session caliban.SessionId
---@field text string
---@field context caliban.Excerpt[]

--- Stops the running turn.
---@class (exact) caliban.Stop
---@field kind 'stop'
---@field session caliban.SessionId

--- The user's answer to an open question.
---@class (exact) caliban.Rule
---@field kind 'rule'
---@field session caliban.SessionId
---@field call string
---@field ruling 'once'|'session'|'deny'|'always'
---@field reason string
---@field command? string Runs this command in place of the one that the question is about.

---@alias caliban.WireRuling
---| 'once'
---| 'session'
---| 'deny'
---| 'always' # Allows the call, and stores the rule that the question offers.

--- Opens or closes a block of the transcript, or a fold of a question.
---@class (exact) caliban.Toggle
---@field kind 'toggle'
---@field session caliban.SessionId
---@field block integer
---@field line? integer The index of the fold's line in the question's block.

--- Sends a failed request again now, without waiting for the end of the pause.
---@class (exact) caliban.Retry
---@field kind 'retry'
---@field session caliban.SessionId

--- A text that a verdict has called unsaved may be saved or gone.
---@class (exact) caliban.LookAgain
---@field kind 'look_again'
---@field session caliban.SessionId

--- Sets the model and its settings.
---@class (exact) caliban.SetModel
---@field kind 'set_model'
---@field session caliban.SessionId
---@field model string `provider/model`, then settings such as `thinking=high`; or settings only.

--- Sets the mode, which applies from the model's next call on.
---@class (exact) caliban.SetMode
---@field kind 'set_mode'
---@field session caliban.SessionId
---@field mode? 'plan'|'ask'|'auto-edit'|'auto'|'coordinator' If absent, the mode after the current one is chosen.

--- A mode as the user chooses it. A conversation that becomes a coordinator keeps the mode that it had.
---@alias caliban.ChosenMode 'plan'|'ask'|'auto-edit'|'auto'|'coordinator'

--- Asks for a list of all models. The answer is `models`.
---@class (exact) caliban.ListModels
---@field kind 'list_models'
---@field session caliban.SessionId

--- The user wants to enter a provider's key. The answer is `connect`.
---@class (exact) caliban.AskForKey
---@field kind 'ask_for_key'
---@field provider? string If absent, the user chooses a provider from a list.

--- The user has entered a provider's key.
---@class (exact) caliban.GiveKey
---@field kind 'give_key'
---@field provider string
---@field key caliban.Secret

--- A provider's key. Debug output does not show the key.
---@alias caliban.Secret string

--- Asks for the last request as it was sent. The answer is `request`.
---@class (exact) caliban.ShowRequest
---@field kind 'show_request'
---@field session caliban.SessionId

--- Asks for the sessions of the project, the latest first. The answer is `sessions`.
---@class (exact) caliban.ListSessions
---@field kind 'list_sessions'
---@field text string Only sessions that contain this text are listed. An empty text lists all sessions.

--- Asks for the first and the last messages of a session on disk. The answer is `peeked`.
---@class (exact) caliban.PeekSession
---@field kind 'peek_session'
---@field id integer The number of the question, which the answer repeats.
---@field session caliban.SessionId
---@field root? string The root of the session's project, if it is another worktree of the repository.

--- Renames a session.
---@class (exact) caliban.RenameSession
---@field kind 'rename_session'
---@field session caliban.SessionId
---@field name string The new name. A text that cannot be a name becomes the session's title.

--- Copies a session and opens the copy.
---@class (exact) caliban.ForkSession
---@field kind 'fork_session'
---@field session caliban.SessionId
---@field after? integer How many of the user's last messages are left out. If absent, the copy is complete.
---@field is_prompt boolean Whether the copy ends with a message of the user: the reply to the last message that is
--- kept is left out too.

--- Moves a session into the trash. A running turn is stopped.
---@class (exact) caliban.DeleteSession
---@field kind 'delete_session'
---@field session caliban.SessionId

--- Writes a session to a file: JSON if the name ends in `.json`, Markdown otherwise.
---@class (exact) caliban.ExportSession
---@field kind 'export_session'
---@field session caliban.SessionId
---@field file string The file's absolute path. If empty, the file is `{session}.md` in the project.
---@field force boolean A file that exists is overwritten.

--- Asks for a list of the turns that changed files, for a preview of rewinding one turn, or to rewind one turn.
---@class (exact) caliban.RewindWanted
---@field kind 'rewind'
---@field session caliban.SessionId
---@field entry? integer The turn to preview or to rewind. If absent, the answer is `turns`.
---@field later? boolean Whether all later turns are rewound too.
---@field look? boolean Whether the preview is only looked at while the user chooses a turn.
---@field paths? string[] The absolute paths of the files to rewind. If absent, the answer is `preview`.

--- Takes a conversation back to before a message of the user. If turns since then have changed files, the answer is
--- `undo`.
---@class (exact) caliban.UndoWanted
---@field kind 'undo'
---@field session caliban.SessionId
---@field after? integer How many messages of the user come after the message to which the conversation goes back.
---@field choice? caliban.UndoChoice The user's answer to `undo`.

---@class (exact) caliban.UndoChoice
---@field message integer The index of the message, as in `undo`.
---@field files boolean The files of the later turns are rewound too.

--- Lists the permissions of a session, revokes one, or explains how a command would be judged or why the user is
--- asked about a call. The answer is `permissions`, or a text in the chat.
---@class (exact) caliban.PermissionsWanted
---@field kind 'permissions'
---@field session caliban.SessionId
---@field revoke? caliban.Granted The permission to revoke.
---@field explain? string A command. If present, the chat shows how the command would be judged.
---@field why? string If present, the open question about this call shows or hides why the user is asked.

--- A permission for the session, or a permission rule.
---@class (exact) caliban.Granted
---@field kind 'command'|'read'|'outside'|'input'|'host'|'connection'|'port'|'server'|'rule'
---@field tool? string The tool that may read the path.
---@field job? integer The job that may get input.
---@field what string The path, the command, the host, the port, the tool of a server, or the rule in one line.

--- What a permission lets the model do.
---@alias caliban.Permitted
---| 'command'
---| 'read' # Read a path with a tool.
---| 'outside' # Run a command outside of the sandbox.
---| 'input' # Send input to a job.
---| 'host' # Fetch pages of a host.
---| 'connection' # Connect from the sandbox to a host.
---| 'port' # Open a port of a job to the user's programs.
---| 'server' # Call a tool of a server.
---| 'rule' # This is a rule instead of a permission for the session.

--- Something that the user does with the last plan of a session.
---@class (exact) caliban.PlanMessage
---@field kind 'plan'
---@field session caliban.SessionId
---@field act 'accept'|'change'|'drop'|'save'|'show'|'keep'
---@field call? string The call of the plan that the editor has; absent if it has none.
---@field text? string The plan as it reads in the editor; absent if the editor does not have it.
---@field remarks? caliban.Remark[] The user's comments on the plan.
---@field mode? 'plan'|'ask'|'auto-edit'|'auto' For `accept`: the mode in which the work begins. Absent: the mode
--- before plan mode.
---@field words? string For `change`: the user's words. For `save`: the file.
---@field force? boolean For `save`: a file that exists is overwritten.

---@alias caliban.WirePlanAct
---| 'accept'
---| 'change'
---| 'drop'
---| 'save'
---| 'show' # Asks for the plan. The answer is `plan_opened`, or a sentence.
---| 'keep' # The user has edited the plan or commented on it.

--- A comment of the user's on lines of a plan.
---@class (exact) caliban.Remark
---@field first integer The first and the last line, counted from 1.
---@field last integer
---@field text string

--- Asks for the list of a session's background jobs, or stops one of them. The answer is `jobs`, or a sentence.
---@class (exact) caliban.JobsWanted
---@field kind 'jobs'
---@field session caliban.SessionId
---@field stop? integer The number of the job to stop. If it is `None`, the list of jobs is asked for.

--- Stops a worker of a session's coordinator, or sends it a message.
---@class (exact) caliban.WorkerMessage
---@field kind 'worker'
---@field session caliban.SessionId
---@field worker caliban.WorkerId
---@field text? string The message. If absent, the worker is stopped.

--- The number of a worker in its conversation, from 1. It is shown as `w3`.
---@alias caliban.WorkerId integer

--- What the user does with one of the model's questions.
---@class (exact) caliban.Respond
---@field kind 'respond'
---@field session caliban.SessionId
---@field call string The call that asks.
---@field question integer Which of the call's questions it is, from 0. If the user has already answered this
--- question, nothing happens.
---@field response 'choose'|'skip'|'mark'|'done'|'words'|'back'
---@field options? integer[] The options that are chosen, or the one that is marked, from 0.
---@field text? string The user's own words.

---@alias caliban.WireResponse
---| 'choose'
---| 'skip'
---| 'mark' # Marks an option, or removes its mark.
---| 'done' # Chooses the marked options.
---| 'words' # Answers in the user's own words.
---| 'back' # Removes the answer to the previous question, so that the user answers that question again.

--- The user takes or removes the project's to-do list.
---@class (exact) caliban.TodoWanted
---@field kind 'todo'
---@field session caliban.SessionId
---@field act 'remove'|'take'

---@alias caliban.WireTodo
---| 'remove'
---| 'take' # This conversation keeps the list from now on, instead of the conversation that left the list.

--- The user's choice what to do about a session that is open in another Neovim.
---@class (exact) caliban.Claim
---@field kind 'claim'
---@field session caliban.SessionId
---@field way 'read'|'fork'|'take'
---@field root? string The root of the session's project, if it is another project. A session of another project can
--- only be copied.

---@alias caliban.Way
---| 'read'
---| 'fork' # Opens a copy.
---| 'take' # Opens the session once the other Neovim has closed it.

--- Another Neovim takes this session over. This Neovim has closed the session's reviews already.
---@class (exact) caliban.Yield
---@field kind 'yield'
---@field session caliban.SessionId
---@field by string A description of the other Neovim, for messages to the user.

--- A proposal was put into its buffer, or could not be put there.
---@class (exact) caliban.Arrived
---@field kind 'arrived'
---@field id integer
---@field state 'refused'|'entered'|'moved'|'withheld'|'stopped'
---@field hunks integer How many hunks of the proposal are pending; 0 unless the state is `entered`.
---@field unsaved? string If the proposal was written at once: why the text is not on disk, or the empty string if it
--- is on disk.
---@field text? string If the state is `moved`: the file's current text; absent if there is no such file. If the state
--- is `entered`: the buffer's text, if the user's autocommands changed it when it was written.
---@field eol? boolean
---@field dos? boolean The file's 'fileformat' is `dos`.
---@field bom? boolean
---@field why? string The reason for a refusal, worded as the end of a sentence for the model.

---@alias caliban.ArrivedState
---| 'refused'
---| 'entered' # The proposal is in the buffer.
---| 'moved' # The file's text is no longer the text from which the proposal was made.
---| 'withheld' # Another proposal of the group could not be put into its buffer, so no proposal of the group was.
---| 'stopped' # The turn was stopped before the proposal was in the buffer.

--- The review of a file is settled: nothing in the file is pending any more.
---@class (exact) caliban.Reviewed
---@field kind 'reviewed'
---@field session caliban.SessionId
---@field proposals integer[] The ids of the review's proposals, the oldest first.
---@field decisions ('accepted'|'rejected'|'reworked'|'part'|'reverted'|'thrown'|'left')[][] For each proposal, the
--- user's decisions on its changes; empty if the decisions are not known.
---@field texts caliban.ProposedText[] The texts of proposals that were made before the program was restarted.
---@field path string The absolute path.
---@field was? string If the user accepted the file's renaming, the file's former path.
---@field elsewhere? string If the user has given the buffer the name of another file: that file's path. The text is
--- there.
---@field deleted boolean Whether the user accepted the file's deletion.
---@field gone boolean The user rejected a new file, so it does not exist.
---@field closed boolean The user closed the buffer before all changes were decided.
---@field whole_left boolean The user closed the buffer before the file's deletion or renaming was decided.
---@field absent boolean The file is not on disk any more, although nobody has decided that.
---@field is_former_there boolean After a renaming: there is a file under the former path again.
---@field outside boolean Another program changed lines of the hunks on disk during the review.
---@field text? string The file's text after the review, if it differs from the text on disk.
---@field disk? string The text on disk, if the file's text after the review was not saved.
---@field eol boolean
---@field saved boolean
---@field unsaved string Why the text was not saved; empty if it was saved.
---@field reasons caliban.Reason[]
---@field formattings caliban.WireFormatting[]

--- The user's decision on one proposed change.
---@alias caliban.Decision
---| 'accepted'
---| 'rejected'
---| 'reworked' # Accepted, after the user changed it.
---| 'part' # Only some of the change's lines were accepted.
---| 'reverted' # Not decided: a formatter has taken the change back as the file was written.
---| 'thrown' # Not decided: another program has thrown the change away on disk.
---| 'left' # Not decided: the user has closed the buffer, or has read its text from disk again.

--- A proposal's text before and after the change.
---@class (exact) caliban.ProposedText
---@field id integer
---@field calls? string[] The calls of the model that made the proposal, if the editor knows them.
---@field before string
---@field before_eol boolean
---@field after string
---@field after_eol boolean
---@field whole? 'delete'|'rename'
---@field to? string The file's new path, absolute.

---@alias caliban.WireWhole 'delete'|'rename'

--- Why the user rejected changes.
---@class (exact) caliban.Reason
---@field changes integer[][] For each proposal, the changes that were rejected, counted from 0; all empty if they are
--- not known.
---@field whole boolean Whether the deletion, the renaming or the empty file was rejected, not changes of the text.
---@field reason string

--- A change that a formatter made to the text.
---@class (exact) caliban.WireFormatting
---@field before string
---@field after string

--- The changes that wait for the user's decision. Sent before a message of the user.
---@class (exact) caliban.Left
---@field kind 'left'
---@field session caliban.SessionId
---@field partly_decided boolean Whether the user has decided on some of the changes of these files.
---@field files caliban.LeftFile[]

---@class (exact) caliban.LeftFile
---@field path string The absolute path.
---@field changes integer How many changes wait.
---@field lines integer[] The first line of each hunk, from 1; at most 20.

--- Changes are under review again on which the user had decided: they have undone their decision, or another program
--- has brought the changes back.
---@class (exact) caliban.UnderReviewAgain
---@field kind 'under_review_again'
---@field session caliban.SessionId
---@field path string The absolute path.
---@field calls string[] The calls of the model that made the changes.

--- The answer of the language servers to `consult`.
---@class (exact) caliban.Found
---@field kind 'found'
---@field id integer
---@field findings caliban.Finding[]
---@field more integer How many findings were left out.
---@field notes string[] Sentences about servers that did not answer.
---@field rewrites caliban.Rewrite[] The changes of a renaming, a code action or formatting.
---@field formatter? caliban.Formatter The user's formatters, if no server formats the file.
---@field why? string Why no server could be asked, as a text for the model.

---@class (exact) caliban.Finding
---@field path string The absolute path; for a finding outside of files, the URI.
---@field line integer The line, from 0.
---@field text string The server's text about the line. If it is empty, the line itself is shown.
---@field symbol? caliban.Symbol The symbol, if the finding is one.

--- A symbol's name and place in its file.
---@class (exact) caliban.Symbol
---@field name string
---@field container string The name of the symbol that contains this one; empty if the server gives none.
---@field first integer The first and the last line of the symbol, from 0. Some servers give only the line of the
--- name.
---@field last integer

--- The changes of one file by a language server.
---@class (exact) caliban.Rewrite
---@field path string The file's absolute path.
---@field sha string The hash of the text for which the changes were computed (`Text::sha256_hex`); empty if the text
--- does not change.
---@field splices caliban.Splice[] The changes of the text, in ascending order and without overlaps.
---@field created boolean Whether the file is created. Then `splices` make its text from an empty one.
---@field deleted boolean
---@field to? string The file's new path, if the file is moved.

--- A range of bytes in a text's joined lines, and its new text.
---@class (exact) caliban.Splice
---@field from integer
---@field to integer
---@field text string

--- The user's formatters for a file.
---@class (exact) caliban.Formatter
---@field steps caliban.Filter[] The commands. Each one gets what the one before has printed.
---@field takes_lines boolean Whether a question about some lines gives the commands only these lines. Otherwise they
--- get the whole text, and their changes of other lines are left out.
---@field ms integer The most milliseconds that a command may take.

--- A command of a formatter.
---@class (exact) caliban.Filter
---@field line string The line for a shell.
---@field codes integer[] The exit codes that mean that the command has formatted the text.

--- How an edit changed the diagnostics (findings) of a file. The numbers count all findings; the lists have only the
--- first ones.
---@class (exact) caliban.Checked
---@field kind 'checked'
---@field id integer
---@field session caliban.SessionId
---@field path string The absolute path.
---@field state 'awaited'|'told'|'dropped'
---@field added caliban.Finding[] New findings.
---@field remaining caliban.Finding[] Findings that the file had before the edit and still has.
---@field elsewhere caliban.Finding[] New findings in other files.
---@field notes string[] Sentences about the language servers, for example that one did not answer.
---@field new integer
---@field fixed integer
---@field remain integer
---@field known boolean Whether the diagnostics before the edit are known. If not, `added` has the findings on the
--- changed lines.
---@field fresh boolean Whether at least one server has reported on the new text.

---@alias caliban.CheckState
---| 'awaited' # The check has begun. The model's answer about the edit waits for the result.
---| 'told' # This message has the result.
---| 'dropped' # There will be no result, because another edit was made in the meantime.

--- The syntax errors that an edit adds to a file: the result of a check that was announced by `checked`.
---@class (exact) caliban.Unparsed
---@field kind 'unparsed'
---@field id integer
---@field session caliban.SessionId
---@field path string The absolute path.
---@field language string The language of the parser.
---@field errors caliban.Finding[] The first errors, at least one.
---@field more integer The number of errors beyond these.

--- The user has entered a composer. The program begins to list the files of the project for completion.
---@class (exact) caliban.Prepare
---@field kind 'prepare'

--- Asks for the completions at the composer's cursor. The answer is `completed`; only the newest question is
--- answered.
---@class (exact) caliban.Complete
---@field kind 'complete'
---@field id integer
---@field session? caliban.SessionId Absent until the session is open.
---@field line string The text of the cursor's line before the cursor.
---@field is_first boolean Whether all lines above the cursor's line are blank, so that the line may be a slash
--- command.
---@field open string[] Absolute paths of the files that are open in the editor; the one used last comes first.
---@field recent string[] Absolute paths of files that were used recently, the last one first.

--- Asks for the sizes of the mentions in a text, or for a preview of the texts that they add. The answer is
--- `weighed`.
---@class (exact) caliban.Weigh
---@field kind 'weigh'
---@field id integer
---@field session caliban.SessionId
---@field text string
---@field preview? caliban.Excerpt[] If present, the answer has a preview of these excerpts and of the excerpts that
--- the mentions add.

--- A message from the editor: a notification with this table as its only argument.
---@alias caliban.FromNvim
---| caliban.Hello
---| caliban.Open
---| caliban.Look
---| caliban.New
---| caliban.Send
---| caliban.Unqueue
---| caliban.SendHeld
---| caliban.Draft
---| caliban.Stop
---| caliban.Rule
---| caliban.Toggle
---| caliban.Retry
---| caliban.LookAgain
---| caliban.SetModel
---| caliban.SetMode
---| caliban.ListModels
---| caliban.AskForKey
---| caliban.GiveKey
---| caliban.ShowRequest
---| caliban.ListSessions
---| caliban.PeekSession
---| caliban.RenameSession
---| caliban.ForkSession
---| caliban.DeleteSession
---| caliban.ExportSession
---| caliban.RewindWanted
---| caliban.UndoWanted
---| caliban.PermissionsWanted
---| caliban.PlanMessage
---| caliban.JobsWanted
---| caliban.WorkerMessage
---| caliban.Respond
---| caliban.TodoWanted
---| caliban.Claim
---| caliban.Yield
---| caliban.Arrived
---| caliban.Reviewed
---| caliban.Left
---| caliban.UnderReviewAgain
---| caliban.Found
---| caliban.Checked
---| caliban.Unparsed
---| caliban.Prepare
---| caliban.Complete
---| caliban.Weigh
