---@meta
--- What crosses between the editor and the program. Kept equal to src/nvim/wire.rs by a test.
--- Lua sends notifications, method `caliban`, one table each, told apart by `kind`. The program calls
--- `require('caliban.program.dispatch').receive(message)` (a request: its answer is the back-pressure).

--- A text crosses as one string, lines joined by '\n', with no newline at the end; `eol` says whether
--- the file's last line ends in one. Lines are counted from 0 here, ranges are half open.

--------------------------------------------------------------------------------------------- to the program

---@class (exact) caliban.Excerpt
---@field path string as the user would write it, relative to the project root where it lies within
---@field lines? [integer, integer] first and last line, from 1, inclusive
---@field filetype? string
---@field kind 'file'|'folder'|'selection'|'instructions'|'skills'|'skill'|'changes'|'hunk'
---@field text string

--- The handshake, sent once, first. The answer is `welcome`.
---@class (exact) caliban.Hello
---@field kind 'hello'
---@field version string the plugin's
---@field nvim string
---@field cwd string
---@field reviews string[] absolute paths of files under review here
---@field leader string the localleader, as it is typed
---@field utc_offset integer seconds by which the user's clock is ahead of UTC
---@field config caliban.WireConfig

--- Opens a session (its transcript is painted, a `session` message comes first). Without a name: the last one
--- used in this project, else `main`.
---@class (exact) caliban.Open
---@field kind 'open'
---@field session? string

--- At startup: opens a session whose turn was interrupted, without showing it, and says so in one line. Nothing
--- happens where another Neovim has it.
---@class (exact) caliban.Look
---@field kind 'look'
---@field session string

--- Asks for the sessions of the project, the newest first.
---@class (exact) caliban.ListSessions
---@field kind 'list_sessions'
---@field text string only those in which it stands; '' for all

--- Gives a session another name; what cannot be a name becomes its title.
---@class (exact) caliban.RenameSession
---@field kind 'rename_session'
---@field session string
---@field name string

--- Goes on in a copy of a session.
---@class (exact) caliban.ForkSession
---@field kind 'fork_session'
---@field session string
---@field after? integer of the user's messages so many from the end are left out; absent: the copy is whole
---@field is_prompt boolean of the last that stays what followed it is left out too

--- Moves a session into the trash; a turn that runs is stopped.
---@class (exact) caliban.DeleteSession
---@field kind 'delete_session'
---@field session string

--- Writes a session to a file: Markdown, or JSON where it ends in `.json`.
---@class (exact) caliban.ExportSession
---@field kind 'export_session'
---@field session string
---@field file string absolute; '' for `{session}.md` in the project
---@field force boolean also over a file that is there

--- A new conversation; the old one stays. Without a name one is made.
---@class (exact) caliban.New
---@field kind 'new'
---@field name? string
---@field ephemeral boolean never saved

---@class (exact) caliban.Send
---@field kind 'send'
---@field session string
---@field text string
---@field context caliban.Excerpt[]
---@field steer boolean with the next request of the running turn

---@class (exact) caliban.Unqueue
---@field kind 'unqueue'
---@field session string
---@field id integer

--- Sends messages that were in the queue when the conversation was opened.
---@class (exact) caliban.SendHeld
---@field kind 'send_held'
---@field session string
---@field id? integer absent: all of these messages

--- What stands unsent in the composer.
---@class (exact) caliban.Draft
---@field kind 'draft'
---@field session string
---@field text string
---@field context caliban.Excerpt[]

---@class (exact) caliban.Stop
---@field kind 'stop'
---@field session string

---@class (exact) caliban.Rule
---@field kind 'rule'
---@field session string
---@field call string
---@field ruling 'once'|'session'|'deny'
---@field reason string

--- Opens or closes a block of the transcript; in a question, a fold.
---@class (exact) caliban.Toggle
---@field kind 'toggle'
---@field session string
---@field block integer
---@field line? integer index of the question's fold in the block

--- Retry now, while a failed request waits.
---@class (exact) caliban.Retry
---@field kind 'retry'
---@field session string

--- How much is done before the user has decided, from the next call on.
---@class (exact) caliban.SetMode
---@field kind 'set_mode'
---@field session string
---@field mode? 'plan'|'ask'|'auto-edit' absent: the one after the present one

--- Asks for all models there are.
---@class (exact) caliban.ListModels
---@field kind 'list_models'
---@field session string

--- The user wants to give a key, for this provider or one of a list.
---@class (exact) caliban.AskForKey
---@field kind 'ask_for_key'
---@field provider? string

---@class (exact) caliban.GiveKey
---@field kind 'give_key'
---@field provider string
---@field key string

--- Shows the request that went out last.
---@class (exact) caliban.ShowRequest
---@field kind 'show_request'
---@field session string

---@class (exact) caliban.SetModel
---@field kind 'set_model'
---@field session string
---@field model string `provider/model`, settings behind it (`thinking=high`), or only these

--- What became of a proposal on its way into the buffer.
---@class (exact) caliban.Arrived
---@field kind 'arrived'
---@field id integer
---@field state 'entered'|'moved'|'refused'|'withheld'|'stopped' withheld: another of its group could not enter
---@field hunks integer pending hunks of this proposal (state `entered`)
---@field unsaved? string why it was not written, '' where it was (state `entered`; absent: it waits to be decided)
---@field text? string the text as it is now (state `moved`; absent: there is no such file; state `entered`: what
---autocommands made of it while it was written, where they did)
---@field eol? boolean
---@field dos? boolean 'fileformat' is dos (state `moved`)
---@field bom? boolean
---@field why? string the end of a sentence for the model (state `refused`)

--- A file's review is settled: nothing of it is pending any more.
---@class (exact) caliban.Reviewed
---@field kind 'reviewed'
---@field session string
---@field proposals integer[] ids of the proposals it held, oldest first
---@field decisions caliban.Decision[][] of each proposal what became of its changes; empty where that is not known
---@field texts caliban.ProposedText[] of those whose program has ended since
---@field path string absolute
---@field was? string its path before the user agreed that it be renamed
---@field deleted boolean the user agreed that it goes
---@field gone boolean the file or its buffer is no more (wiped, deleted): read as undone
---@field text? string the resulting text; absent where it is on disk as it stands (`saved`)
---@field eol boolean
---@field saved boolean
---@field unsaved string why it was not saved; '' where it was
---@field reasons caliban.Reason[]
---@field formattings caliban.WireFormatting[]

--- `reworked`: accepted as the user has changed it; `part`: some of its lines were accepted.
---@alias caliban.Decision 'accepted'|'reworked'|'part'|'rejected'

--- What a formatter made of the text, lines joined by '\n'.
---@class (exact) caliban.WireFormatting
---@field before string
---@field after string

--- A proposal's text before and after it, lines joined by '\n'.
---@class (exact) caliban.ProposedText
---@field id integer
---@field before string
---@field before_eol boolean
---@field after string
---@field after_eol boolean
---@field whole? 'delete'|'rename'
---@field to? string

---@class (exact) caliban.Reason
---@field lines string[] the proposed lines the reason is about (as they stood when rejected)
---@field reason string

--- What the language servers answered to a `look`.
---@class (exact) caliban.Found
---@field kind 'found'
---@field id integer
---@field findings caliban.Finding[]
---@field more integer findings beyond those
---@field notes string[] sentences on servers that did not answer
---@field rewrites caliban.Rewrite[] what another name changes
---@field why? string for the model: why nobody could be asked

--- What an edit did to a file's diagnostics. First it is awaited: the verdict on the edit waits for it. It is told
--- once, or dropped where another edit has come since.
---@class (exact) caliban.Checked
---@field kind 'checked'
---@field id integer
---@field session string
---@field path string absolute
---@field state 'awaited'|'told'|'dropped'
---@field added caliban.Finding[] the first of those that are new
---@field remaining caliban.Finding[] the first of those that were there before
---@field elsewhere caliban.Finding[] new ones in other files
---@field notes string[] sentences on the servers
---@field new integer
---@field fixed integer
---@field remain integer
---@field known boolean what was there before is known; where not, `added` is what stands on changed lines
---@field fresh boolean some server has reported on the new text

--- What a renaming asks of one file.
---@class (exact) caliban.Rewrite
---@field path string absolute
---@field sha string SHA-256, hex, of its text, lines joined by '\n'; '' where that stays
---@field splices caliban.Splice[] ascending
---@field deleted boolean
---@field to? string its new path

--- Bytes of that text, and what stands there instead.
---@class (exact) caliban.Splice
---@field from integer
---@field to integer
---@field text string

---@class (exact) caliban.Finding
---@field path string absolute, or a URI
---@field line integer
---@field text string what is said of it; '' where it is the line itself that was looked for

--------------------------------------------------------------------------------------------- to the editor

---@class (exact) caliban.Welcome
---@field kind 'welcome'
---@field version string the program's

--- A session is open here: make its buffers. Its transcript follows as `paint`.
---@class (exact) caliban.Session
---@field kind 'session'
---@field session string
---@field instead? string the one that was asked for and could not be opened
---@field root string
---@field ephemeral boolean
---@field reading boolean it can only be read here
---@field reviews string[] names of the review records that may be taken up
---@field show boolean the user asked for it in the chat: it takes the place of the one shown
---@field draft string
---@field draft_context caliban.Excerpt[]

---@class (exact) caliban.Paint
---@field kind 'paint'
---@field session string
---@field reset boolean empty the transcript first
---@field above boolean more of what stands above follows
---@field updates caliban.BlockUpdate[]

--- A change to one block of the transcript. An unknown `id` is a new block, behind those of a smaller `id`. Either
--- `append` (text put at the block's very end; it may hold newlines) or `lines` (which replace the block's lines from
--- index `at` to its end). A block's lines include the empty line that sets it off from the one before.
---@class (exact) caliban.BlockUpdate
---@field id integer
---@field shape 'user'|'text'|'thinking'|'tool'|'ask'|'notice'|'error'|'intro'
---@field at integer
---@field lines? string[]
---@field append? string
---@field final boolean no more will be appended: the last line may be highlighted
---@field right? string a virtual note at the right end of the block's first non-empty line
---@field below? string[] virtual lines under the block (a user message's context)
---@field call? string the question's call (shape `ask`); its last line names the keys
---@field folds? integer[] indices of the question's lines that are folds
---@field remove? boolean the block is gone

---@class (exact) caliban.Status
---@field kind 'status'
---@field session string
---@field phase 'idle'|'sending'|'streaming'|'running'|'asking'|'reviewing'|'retrying'|'offline'
---@field waiting_for? 'permission'|'question'|'review'
---@field turn integer the running turn, or the last one
---@field tool? string the running tool
---@field model string
---@field mode 'plan'|'ask'|'auto-edit'
---@field tour boolean
---@field unsaved boolean the conversation is in memory only
---@field input integer tokens of this session, all told
---@field output integer
---@field cached integer
---@field context integer tokens of the last request and its reply
---@field window integer the model's context window, 0 where unknown
---@field queue caliban.QueuedMessage[]
---@field retry_ms? integer time to the next try
---@field retry_why? string what went wrong, without a full stop
---@field silent_ms? integer nothing has come for so long already
---@field hit? integer percent of the last request that the provider had in its cache
---@field cost? number USD of this session, as far as prices are known
---@field unpriced boolean the price of some of it is not known

---@class (exact) caliban.QueuedMessage
---@field id integer
---@field text string
---@field context caliban.Excerpt[]
---@field steer boolean
---@field held boolean it is sent only when the user says so
---@field shown string the text of a held one, its hidden characters spelt out; else empty

--- Puts proposals before the user; answered at once, each one's way is told by `arrived`.
---@class (exact) caliban.Propose
---@field kind 'propose'
---@field session string whose turn it is
---@field owner string the conversation in which they are reviewed: a worker's parent, or the session itself
---@field turn integer
---@field proposals caliban.WireProposal[]

---@class (exact) caliban.WireProposal
---@field id integer
---@field group integer those of one group enter together, or none does
---@field path string absolute
---@field create boolean the file is new
---@field sha string hash of the text it was made from (`Text::hash_of_parts`; '' for a new file)
---@field hunks caliban.WireHunk[] ascending
---@field eol boolean whether the proposed text's last line ends in a newline
---@field at_once boolean it is written as soon as it is in the buffer
---@field binary boolean it is no text: only the file as a whole is proposed about
---@field whole? 'delete'|'rename' what is proposed for the file as a whole: then there are no hunks
---@field to? string absolute: its new path

---@class (exact) caliban.WireHunk
---@field start integer first line replaced
---@field count integer how many
---@field text string the new lines
---@field n integer how many (0: none; `text` is then '')

--- Asks for a buffer's text; the answer is a `caliban.BufferText`.
---@class (exact) caliban.Read
---@field kind 'read'
---@field path string absolute
---@field decode boolean it is not UTF-8 on disk: its text as Neovim reads it is wanted, loaded or not

---@class (exact) caliban.BufferText
---@field loaded boolean
---@field pending integer
---@field text? string where it is loaded and modified
---@field eol? boolean
---@field dos? boolean
---@field bom? boolean

--- Asks for the paths of loaded, modified file buffers; the answer is a list.
---@class (exact) caliban.Changed
---@field kind 'changed'

--- Asks what tells each of these files' texts from other texts of it; the answer is a list of strings: '' where it is
--- the disk's, 'undecided' where proposed text stands in it that waits to be decided.
---@class (exact) caliban.Stamps
---@field kind 'stamps'
---@field paths string[] absolute

--- Asks to save these files if they are modified and nothing in them is pending; the answer lists those still unsaved.
---@class (exact) caliban.Save
---@field kind 'save'
---@field paths string[]

--- The program has stopped a turn: what has not entered a buffer must not.
---@class (exact) caliban.Halt
---@field kind 'halt'
---@field session string
---@field turn integer

--- A question to the language servers; answered at once, what they say is told by `found`.
---@class (exact) caliban.Consult
---@field kind 'consult'
---@field id integer
---@field session string
---@field aspect 'diagnostics'|'definition'|'references'|'hover'|'symbols'|'rename'
---@field path? string absolute
---@field line integer the symbol's
---@field symbol string as it stands on that line
---@field query? string of symbols of the project: a part of their names
---@field name? string that the symbol is to have

--- A message came back unsent: its text belongs in the composer again.
---@class (exact) caliban.Bounce
---@field kind 'bounce'
---@field session string
---@field text string
---@field context caliban.Excerpt[]
---@field why string

---@class (exact) caliban.Offer
---@field name string
---@field about string a few words; may be empty

--- The models there are.
---@class (exact) caliban.Models
---@field kind 'models'
---@field session string
---@field models caliban.Offer[] by their full names
---@field problems string[] a sentence for each provider that could not be asked

--- Asks the user for a key: of `provider`, else of one they choose.
---@class (exact) caliban.Connect
---@field kind 'connect'
---@field provider? string
---@field providers caliban.Offer[]

---@class (exact) caliban.Sessions
---@field kind 'sessions'
---@field text string what was looked for; '' for all
---@field sessions caliban.SessionRow[]

---@class (exact) caliban.SessionRow
---@field name string
---@field title string
---@field age integer seconds since it was saved
---@field bytes integer
---@field turns integer
---@field open 'here'|'elsewhere'|'nowhere'
---@field problem? string why it cannot be opened
---@field root? string of the project it is in, where that is another place of the same repository
---@field line? string the first line that holds what was looked for

--- A session goes by another name from here on.
---@class (exact) caliban.Renamed
---@field kind 'renamed'
---@field session string
---@field to string

--- A session is no more.
---@class (exact) caliban.Deleted
---@field kind 'deleted'
---@field session string

--- A text for the clipboard.
---@class (exact) caliban.Copied
---@field kind 'copied'
---@field text string

--- The user wants to choose of the messages sent in this project.
---@class (exact) caliban.History
---@field kind 'history'
---@field session string

--- The request that went out last.
---@class (exact) caliban.Request
---@field kind 'request'
---@field session string
---@field about string its address and headers, without the key
---@field body string JSON, indented

---@class (exact) caliban.Notice
---@field kind 'notice'
---@field level 'info'|'warn'|'error'
---@field text string

--- A `User` autocommand for scripts.
---@class (exact) caliban.Event
---@field kind 'event'
---@field name string e.g. `CalibanTurnStart`
---@field data table
