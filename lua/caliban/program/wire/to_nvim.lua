---@meta
--- The messages from the program to the editor. Generated from the types in `src/nvim/wire.rs`: change these, then
--- run `UPDATE_EXPECT=1 cargo test --lib wire::lua`.
---
--- A text is one string: its lines joined by `\n`, without a newline at the end. `eol` says whether the file's last
--- line ends in a newline. Lines are counted from 0, and ranges are half open, unless the field says otherwise.

--- The answer to `hello`.
---@class (exact) caliban.Welcome
---@field kind 'welcome'
---@field version string The program's version.

--- A session was opened in this program and needs buffers. Its transcript follows as `paint` messages.
---@class (exact) caliban.Session
---@field kind 'session'
---@field session caliban.SessionId
---@field instead? caliban.SessionId The session that could not be opened; this session was opened in its place.
---@field root string The project's root.
---@field ephemeral boolean The session is never saved.
---@field reading boolean The session can only be read here.
---@field reviews string[] The names of the stored reviews that the editor may reopen.
---@field show boolean The user asked for this session: the chat shows it instead of the current one.
---@field draft string
---@field draft_context caliban.Excerpt[]

--- Changes to the transcript.
---@class (exact) caliban.Paint
---@field kind 'paint'
---@field session caliban.SessionId
---@field reset boolean The transcript is emptied first.
---@field above boolean More messages follow with blocks that are above the blocks painted so far.
---@field now integer The program's clock, in milliseconds.
---@field updates caliban.BlockUpdate[]

--- A change to one block of the transcript. An unknown `id` is a new block; blocks are in the order of their ids. A
--- block's lines include the empty line that separates the block from the one above, if there is one.
---@class (exact) caliban.BlockUpdate
---@field id integer
---@field shape 'user'|'text'|'thinking'|'tool'|'ask'|'notice'|'error'|'intro'|'boundary'|'plan'
---@field at integer The index in the block of the first line that `lines` replaces.
---@field lines? string[] The block's lines from `at` to its end.
---@field append? string Text to append at the block's end; it may contain newlines. Sent instead of `lines`.
---@field final boolean Whether the block is complete: nothing more will be appended, so its last line may be
--- highlighted.
---@field right? string Virtual text at the right end of the block's first line that is not empty.
---@field below? string[] Virtual lines under the block: the context of a user's message.
---@field call? string In a question, the call that it is about; in a call whose changes wait for the user or have
--- been under review, its id.
---@field call_line? caliban.CallLine In a call or a folded run of calls: the parts of its line.
---@field session? string In a call, the session in which a subagent works on it.
---@field workers? caliban.WorkerRow[] In a call, the workers that it has ordered. Each has one of the lines below the
--- call's own, in this order.
---@field diff? caliban.DiffRows[] In an opened edit, the lines that are diffs.
---@field folds? integer[] In a question, the indices of the lines that are folds. The user can consent only when all
--- folds are open.
---@field subject? [integer, integer, integer][] In a question, the parts of its lines that the user decides on: for
--- each the index of the line, its first byte and the byte after its last. The rest of the question is dim. In an
--- error, the parts that tell why.
---@field shell? boolean Whether these parts are a command for a shell.
---@field always? boolean Whether a question offers to store a rule.
---@field explains? boolean Whether a question can be explained.
---@field command? string In a question, the command that the user may change.
---@field asks? caliban.Asks In a question of the model: its place and its options.
---@field items? integer In a list on whose items keys act, the number of items. They are the block's last lines.
---@field remove? boolean Whether the block is removed.

---@alias caliban.Shape
---| 'user'
---| 'text'
---| 'thinking'
---| 'tool'
---| 'ask'
---| 'notice'
---| 'error'
---| 'intro'
---| 'boundary' # The place at which the conversation was compacted.
---| 'plan' # The block that says that a plan waits for the user.

--- The parts of a call's own line, and the state of the call.
---@class (exact) caliban.CallLine
---@field name integer The number of bytes up to the end of the tool's name.
---@field main [integer, integer] The first byte and the end of the argument that is cut first in a narrow window.
--- Equal if there is none.
---@field is_path boolean Whether that argument is a path, whose end tells more than its beginning.
---@field names? integer[] If that argument is a list of names, the first byte of each name but the first. A narrow
--- window leaves out whole names.
---@field own integer[] The byte positions of Caliban's own signs. The other signs are part of what the model wrote.
---@field is_whole boolean Whether the line may take several rows in a narrow window.
---@field failed boolean Whether the words at the right end say that the call failed.
---@field waits boolean Whether these words say that the call waits for the user.
---@field began? integer When the running call began, in milliseconds on the clock of the paint messages.

--- A line of a call about one of its workers, for the keys on it.
---@class (exact) caliban.WorkerRow
---@field worker caliban.WorkerId
---@field role 'explorer'|'implementer'|'verifier'|'summarizer'
---@field title string
---@field state string What the worker does, in a few words.
---@field notice string What the worker has reported last; may be empty.
---@field session? string The worker's own session, once it is open.
---@field waits boolean Whether the worker waits for the user.
---@field failed boolean
---@field over boolean Whether the worker has ended.
---@field requests integer
---@field tokens integer
---@field line string The whole line. The editor cuts it in a narrow window.
---@field parts [integer, integer] The first byte of the title in this line, and the first byte of the words about
--- what the worker does.
---@field spare integer The bytes of these words that a narrow window leaves out first.
---@field right string The words beside the line; may be empty.

--- The kind of work that a worker does. The role decides the worker's tools and prompt.
---@alias caliban.WorkerRole
---| 'explorer' # Reads and searches.
---| 'implementer' # Edits the files that it owns, and runs commands.
---| 'verifier' # Reads and runs commands, and edits nothing.
---| 'summarizer' # Reads what others have found, and shortens it.

--- Lines of a file's diff. Each of them begins with its sign.
---@class (exact) caliban.DiffRows
---@field path string The file's path, by which the language is known.
---@field at integer The index in the block of the first line.
---@field old integer The numbers of the first line in the old and in the new text, from 1; 0 if they are not known.
---@field new integer
---@field signs string The lines' signs: ` `, `-` or `+`.

--- A question of the model.
---@class (exact) caliban.Asks
---@field question integer Which of the call's questions it is, from 0.
---@field options integer
---@field multiple boolean Whether several options may be chosen.

--- The state of a session.
---@class (exact) caliban.Status
---@field kind 'status'
---@field session caliban.SessionId
---@field phase 'idle'|'sending'|'streaming'|'retrying'|'compacting'|'running'|'asking'|'reviewing'
---@field waiting_for? 'permission'|'review'|'question'
---@field question? caliban.OpenQuestion The model's question that the user answers next.
---@field turn integer The number of the running turn. If no turn runs, the number of the last one.
---@field tool? string The running tool.
---@field model string
---@field mode 'plan'|'ask'|'auto-edit'|'auto'
---@field coordinates boolean Whether the conversation is a coordinator. A coordinator also has a mode.
---@field workers? caliban.WorkersStatus The conversation's workers; absent if none is at work and every result is
--- read.
---@field agent? string The named agent that the conversation is.
---@field plan? caliban.PlanStatus The last plan; absent if there is none.
---@field tour boolean Whether the model is the offline tour, a script inside the program.
---@field runs boolean Whether a turn runs: a message is queued. Also without a turn, a question about a job may wait.
---@field unsaved boolean Whether the conversation is in memory only, because it is never saved or could not be saved.
---@field input integer The number of input and output tokens that this session has used.
---@field output integer
---@field cached integer
---@field context integer The tokens of the last request and its reply.
---@field size integer The tokens of the next request; 0 before the first message.
---@field fill 'ample'|'long'|'full'
---@field window integer The model's context window in tokens; 0 if it is not known.
---@field queue caliban.QueuedMessage[]
---@field jobs integer How many background jobs run.
---@field retry_ms? integer The time until a failed request is sent again.
---@field retry_why? string Why the last request failed, as a sentence without a full stop.
---@field silent_ms? integer For how many milliseconds the model has sent nothing; set only once this is worth
--- telling.
---@field hit? integer The part of the last request that was in the provider's cache, in percent.
---@field cost? number The session's cost in USD, not counting replies whose price is not known.
---@field unpriced boolean Whether the price of at least one reply is not known.

--- What a session is doing.
---@alias caliban.Stage
---| 'idle'
---| 'sending' # A request was sent; no reply has arrived yet.
---| 'streaming' # A reply is arriving.
---| 'retrying' # A request failed and will be sent again after a pause.
---| 'compacting' # A model is asked for a summary of the conversation.
---| 'running' # A tool runs.
---| 'asking' # The user is asked whether a call may run or the turn may spend more, or has to answer the model's questions.
---| 'reviewing' # The turn waits for the user's review.

--- What a turn needs from the user to go on.
---@alias caliban.Wait
---| 'permission'
---| 'review'
---| 'question' # An answer to the model, a decision on a plan, or an answer to the question whether the turn may go beyond a spending limit.

--- One of the questions that a call asks the user.
---@class (exact) caliban.OpenQuestion
---@field call string
---@field question integer Which of the call's questions it is, from 0.
---@field of integer How many questions the call asks.
---@field text string
---@field options caliban.AnswerOption[] The options. The first one is the model's suggestion.
---@field multiple boolean Whether several options may be chosen.
---@field marked integer[] The options that are marked so far, from 0.

---@class (exact) caliban.AnswerOption
---@field label string
---@field about? string A few words about the option; may be empty.

--- How many workers a conversation has.
---@class (exact) caliban.WorkersStatus
---@field active integer The workers that run or wait in line.
---@field asking integer The workers that wait for the user.
---@field unread integer The workers that have ended and whose results the model has not read.

--- The last plan of a session, without its text.
---@class (exact) caliban.PlanStatus
---@field call string The call that submitted the plan.
---@field stage 'approved'|'waiting'|'sent_back'
---@field before 'plan'|'ask'|'auto-edit'|'auto' The mode before plan mode.

--- The state of the user's decision on a plan.
---@alias caliban.PlanStage
---| 'approved'
---| 'waiting' # The plan waits for the user's decision.
---| 'sent_back' # The user has sent the plan back to be changed.

--- How full a model's window is. An unknown window is never full.
---@alias caliban.Fill
---| 'ample'
---| 'long' # The conversation is long: models begin to overlook things long before their window is full.
---| 'full' # The conversation has the size at which it is made shorter.

--- A queued message as the user sees it. All fields are always sent.
---@class (exact) caliban.QueuedMessage
---@field id integer
---@field text string
---@field context caliban.Excerpt[]
---@field steer boolean
---@field held boolean Whether the message is held back until the user sends it.
---@field shown string The text of a held message, in which each invisible or deceptive character is spelt out. Empty
--- for other messages.

--- Proposals for the user's review. The editor answers at once; an `arrived` message follows for each proposal.
---@class (exact) caliban.Propose
---@field kind 'propose'
---@field session caliban.SessionId The session of the turn; for a worker's proposals, the worker's session.
---@field owner caliban.SessionId The session in which the proposals are reviewed: for a worker's proposals its
--- parent, otherwise the session of the turn.
---@field turn integer
---@field proposals caliban.WireProposal[]

--- A proposed change of one file.
---@class (exact) caliban.WireProposal
---@field id integer
---@field group integer Either all proposals of a group are put into their buffers, or none.
---@field calls string[] The model's calls that made the proposal.
---@field path string The absolute path.
---@field create boolean The file is new.
---@field sha string The hash of the text from which the proposal was made (`Text::hash_of_parts`); empty for a new
--- file.
---@field hunks caliban.WireHunk[] The hunks in ascending order.
---@field eol boolean The last line of the proposed text ends in a newline.
---@field dos? boolean The lines of a new file end in CR LF.
---@field bom? boolean A new file begins with a byte order mark.
---@field at_once boolean The text is written as soon as it is in the buffer.
---@field binary boolean The file is not text: the proposal can only delete or rename it.
---@field whole? 'delete'|'rename' Deletes or renames the file, without any hunks.
---@field to? string The file's new path, absolute.

---@class (exact) caliban.WireHunk
---@field start integer The first line that is replaced.
---@field count integer How many lines are replaced.
---@field text string The new lines.
---@field n integer How many new lines there are. With 0, `text` is empty.

--- Asks for a buffer's text. The answer is a `BufferText`.
---@class (exact) caliban.Read
---@field kind 'read'
---@field path string The absolute path.
---@field decode boolean The file on disk is not UTF-8: the answer has the text as Neovim decodes it.
---@field unmodified boolean The answer has the text of a loaded buffer even if the buffer is not modified.

--- Asks what the user has in a part of the editor, for example which files are open. The answer is a `Scene`.
---@class (exact) caliban.Survey
---@field kind 'survey'
---@field part 'buffer'|'quickfix'|'clipboard'|'buffers'|'selection'|'loclist'

--- A part of what the user has in the editor. Here `the buffer` means the buffer in the last window that was not a
--- chat window.
---@alias caliban.Part
---| 'buffer'
---| 'quickfix'
---| 'clipboard'
---| 'buffers' # The open files; the one that was used last comes first.
---| 'selection' # The last visual selection in the buffer.
---| 'loclist' # The location list of the buffer's window.

--- Asks for the paths of the loaded, modified file buffers. The answer is a list.
---@class (exact) caliban.Changed
---@field kind 'changed'

--- Asks which version of each file's text the editor has. The answer is a list of strings that change with the text.
--- A string is empty if the file's text is the one on disk, and `undecided` if the text has pending changes.
---@class (exact) caliban.Stamps
---@field kind 'stamps'
---@field paths string[] Absolute paths.

--- Asks which texts the buffers of these files hold. The answer is a list of `HeldText`, in the order of the paths.
---@class (exact) caliban.HeldTexts
---@field kind 'held_texts'
---@field paths string[] Absolute paths.

--- Asks how the user has decided so far on changes of a file that are written already. The answer is a
--- `PartlyDecided`.
---@class (exact) caliban.DecidedSoFar
---@field kind 'decided_so_far'
---@field path string The absolute path.

--- Asks to save the modified files without pending changes. The answer is a list of the files that are still unsaved.
---@class (exact) caliban.Save
---@field kind 'save'
---@field paths string[] Absolute paths.
---@field agreed string[] The paths that the user has agreed to save although they have unsaved text of the user's
--- own.

--- The program has stopped a turn. Proposals of the turn that still wait must not be put into their buffers.
---@class (exact) caliban.Halt
---@field kind 'halt'
---@field session caliban.SessionId
---@field turn integer

--- A question to the language servers. The editor answers at once; the servers' answer follows as `found`.
---@class (exact) caliban.Consult
---@field kind 'consult'
---@field id integer
---@field session caliban.SessionId
---@field aspect 'diagnostics'|'definition'|'references'|'hover'|'symbols'|'rename'|'actions'|'action'|'format'
---@field path? string The absolute path.
---@field line integer The symbol's line, or the first line of a range.
---@field last? integer The last line of a range.
---@field symbol string The symbol as it is written on that line.
---@field query? string A part of the names of the symbols to find in the project.
---@field name? string The symbol's new name, or the title or number of a code action.
---@field only? string The kind of the code actions.

--- The kind of a question to the language servers.
---@alias caliban.Aspect
---| 'diagnostics'
---| 'definition'
---| 'references'
---| 'hover'
---| 'symbols'
---| 'rename' # The changes that renaming a symbol needs.
---| 'actions' # The code actions on some lines.
---| 'action' # The changes of one code action.
---| 'format' # The changes that formatting needs.

--- A message was not sent: its text goes back into the composer.
---@class (exact) caliban.Bounce
---@field kind 'bounce'
---@field session caliban.SessionId
---@field text string
---@field context caliban.Excerpt[]
---@field why string

--- All models, for the user's choice.
---@class (exact) caliban.Models
---@field kind 'models'
---@field session caliban.SessionId
---@field models caliban.Offer[] The models. Each name is `provider/model`.
---@field problems string[] A sentence for each provider that could not be asked.

--- A model or a provider that the user can choose.
---@class (exact) caliban.Offer
---@field name string
---@field about string A few words about the item; may be empty.
---@field facts string[] What is known of a model: its window, whether it reads images, and its price. An unknown fact
--- is empty. A provider has no facts.

--- Asks the user for a key.
---@class (exact) caliban.Connect
---@field kind 'connect'
---@field provider? string If absent, the user chooses one of `providers`.
---@field providers caliban.Offer[]

--- The answer to `complete`.
---@class (exact) caliban.Completed
---@field kind 'completed'
---@field id integer The id of the question.
---@field replaced integer How many bytes before the cursor an item replaces.
---@field items caliban.CompletionItem[] The items, the best one first.
---@field more boolean The program does not know all items yet; the same question will get more soon.

---@class (exact) caliban.CompletionItem
---@field label string
---@field text string Replaces the line from `start` to the cursor.
---@field is 'file'|'folder'|'command'|'word'|'model'|'session'|'skill'|'symbol'
---@field about string A few words about the item; may be empty.

---@alias caliban.CompletionKind 'file'|'folder'|'command'|'word'|'model'|'session'|'skill'|'symbol'

--- The answer to `weigh`.
---@class (exact) caliban.Weighed
---@field kind 'weighed'
---@field id integer The id of the question.
---@field session caliban.SessionId
---@field mentions caliban.Weight[] The mentions, in the order of the text.
---@field preview? string The preview, if it was asked for.

---@class (exact) caliban.Weight
---@field written string The mention as it is written in the text.
---@field about string The size of the mentioned text, or why there is no such text.
---@field is_wrong boolean Whether the mention cannot be read, or the user will be warned before the message is sent.

--- The answer to `list_sessions`.
---@class (exact) caliban.Sessions
---@field kind 'sessions'
---@field text string The text that was searched for; empty for all sessions.
---@field sessions caliban.SessionRow[]

---@class (exact) caliban.SessionRow
---@field name string
---@field title string
---@field age integer Seconds since the session was saved.
---@field bytes integer
---@field turns integer
---@field open 'here'|'nowhere'|'elsewhere'
---@field problem? string Why the session cannot be opened.
---@field line? string The first line that contains the text that was searched for.
---@field parent? caliban.SessionId If the session is a subagent's: the session that gave it its task.
---@field root? string The root of the session's project, if it is another worktree of the repository.

---@alias caliban.WhereOpen
---| 'here'
---| 'nowhere'
---| 'elsewhere' # The session is open in another Neovim.

--- The answer to `peek_session`.
---@class (exact) caliban.Peeked
---@field kind 'peeked'
---@field id integer
---@field lines string[]

--- The user asked for a session that is open in another Neovim.
---@class (exact) caliban.Held
---@field kind 'held'
---@field session caliban.SessionId
---@field by string A description of the other Neovim, for messages to the user; empty if nothing is known about it.
---@field server string The address on which the other Neovim listens; empty if it is not known.

--- A session has a new name.
---@class (exact) caliban.Renamed
---@field kind 'renamed'
---@field session caliban.SessionId
---@field to caliban.SessionId The new name.

--- A session was deleted.
---@class (exact) caliban.Deleted
---@field kind 'deleted'
---@field session caliban.SessionId

--- A text for the clipboard.
---@class (exact) caliban.Copied
---@field kind 'copied'
---@field text string

--- The user wants to choose among the messages that were sent in this project.
---@class (exact) caliban.History
---@field kind 'history'
---@field session caliban.SessionId

--- The user wants the windows of the session's chat closed.
---@class (exact) caliban.Exit
---@field kind 'exit'
---@field session caliban.SessionId

--- Comments of a code review. They are shown in addition to the comments that are shown already.
---@class (exact) caliban.Comments
---@field kind 'comments'
---@field session caliban.SessionId
---@field comments caliban.Comment[]

--- A comment of the model on a line of a file.
---@class (exact) caliban.Comment
---@field path string The absolute path.
---@field line integer Counted from 0.
---@field severity 'error'|'warning'|'info'|'hint'
---@field text string

---@alias caliban.Severity 'error'|'warning'|'info'|'hint'

--- Removes the comments of earlier code reviews.
---@class (exact) caliban.Uncomment
---@field kind 'uncomment'
---@field session caliban.SessionId

--- The turns that changed files.
---@class (exact) caliban.Turns
---@field kind 'turns'
---@field session caliban.SessionId
---@field turns caliban.TurnRow[] The turns, the latest first.

---@class (exact) caliban.TurnRow
---@field entry integer
---@field title string
---@field age integer Seconds since the turn's first change.
---@field files string[]
---@field notes string[] What the turn did that no rewind takes back, in a few words each.

--- The user is asked whether to rewind files together with the conversation.
---@class (exact) caliban.Undo
---@field kind 'undo'
---@field session caliban.SessionId
---@field message integer The index of the message in the conversation.
---@field title string The first line of the message.
---@field files string[] The files' paths as the user would write them.

--- The permissions of a session.
---@class (exact) caliban.Permissions
---@field kind 'permissions'
---@field session caliban.SessionId
---@field grants caliban.GrantRow[] The permissions in the order in which they were granted, then the rules.

---@class (exact) caliban.GrantRow
---@field label string The permission or rule in one line for the user.
---@field kind 'command'|'read'|'outside'|'input'|'host'|'connection'|'port'|'server'|'rule'
---@field tool? string The tool that may read the path.
---@field job? integer The job that may get input.
---@field what string The path, the command, the host, the port, the tool of a server, or the rule in one line.

--- A plan to show.
---@class (exact) caliban.PlanOpened
---@field kind 'plan_opened'
---@field session caliban.SessionId
---@field call string The call that submitted the plan.
---@field stage 'approved'|'waiting'|'sent_back'
---@field text string
---@field remarks caliban.Remark[] The user's comments.
---@field asked boolean The user asked for the plan: its window becomes the current one.

--- The background jobs of a session.
---@class (exact) caliban.Jobs
---@field kind 'jobs'
---@field session caliban.SessionId
---@field jobs caliban.JobRow[] The oldest first.

--- A background job in a list for the user.
---@class (exact) caliban.JobRow
---@field id integer
---@field command string The first line of the command.
---@field ended? string How the job ended, as a clause that follows its name; absent if the job runs.
---@field age integer Seconds since the job began.
---@field ports? string The ports at which the job listens, in a few words; absent if there are none.

--- The named agents of the project and of the user.
---@class (exact) caliban.Agents
---@field kind 'agents'
---@field session caliban.SessionId
---@field agents caliban.AgentRow[] The user's first.
---@field open boolean Whether the file of the only agent is to be opened, because the user has named it.

--- A named agent in a list for the user.
---@class (exact) caliban.AgentRow
---@field name string
---@field description string One line; may be empty.
---@field is_users boolean Whether the agent is the user's own, and not the project's.
---@field path string The agent's file, and its name as the user would write it.
---@field shown string
---@field line integer The line of the file where the agent begins, from 1.

--- The skills of the project and of the user, from which the user chooses one for the next message.
---@class (exact) caliban.Skills
---@field kind 'skills'
---@field session caliban.SessionId
---@field skills caliban.SkillRow[] The project's first.

--- A skill in a list for the user.
---@class (exact) caliban.SkillRow
---@field name string
---@field description string One line.
---@field source string The folder of skills that has this one, as the user would write it.
---@field path string The skill's `SKILL.md`.

--- The to-do list of a session has changed.
---@class (exact) caliban.Todo
---@field kind 'todo'
---@field session caliban.SessionId
---@field items caliban.TodoItem[] The items; none if the session keeps no list.

---@class (exact) caliban.TodoItem
---@field text string
---@field status 'pending'|'in_progress'|'completed'

--- The progress of an item of a to-do list.
---@alias caliban.Progress 'pending'|'in_progress'|'completed'

--- The preview of a rewind: what would happen to each file.
---@class (exact) caliban.Preview
---@field kind 'preview'
---@field session caliban.SessionId
---@field entry integer
---@field later boolean All later turns are rewound too.
---@field look boolean The preview is only looked at while the user chooses a turn.
---@field title string
---@field notes string[] What the turn did that no rewind takes back, in sentences.
---@field files caliban.RewindFile[]

---@class (exact) caliban.RewindFile
---@field path string The file's absolute path.
---@field name string The file's path as the user would write it.
---@field about string What the rewind does to the file: words that follow its name in a sentence.
---@field diff string A unified diff without the header.
---@field todo boolean Whether the rewind changes this file.

--- Asks to change, delete or rename one file without a review. The answer is a `Restored`.
---@class (exact) caliban.Restore
---@field kind 'restore'
---@field file caliban.WireProposal

--- The program has written this file.
---@class (exact) caliban.Refresh
---@field kind 'refresh'
---@field path string The absolute path.

--- A command of the model's begins or has ended. After its end, the buffers take over what it has changed on disk.
--- The editor answers when this is done.
---@class (exact) caliban.Command
---@field kind 'command'
---@field ended boolean
---@field is_job boolean Whether it goes on in the background. Then the buffers take over its changes while it runs
--- too.
---@field moved table<string, string> The files that it has renamed: their new paths, by the former ones.

--- The last request as it was sent.
---@class (exact) caliban.Request
---@field kind 'request'
---@field session caliban.SessionId
---@field about string The request's address and headers, without the key.
---@field body string Indented JSON.

--- A sentence for the user.
---@class (exact) caliban.Notice
---@field kind 'notice'
---@field level 'info'|'warn'|'error'
---@field text string

---@alias caliban.Level 'info'|'warn'|'error'

--- A `User` autocommand for scripts.
---@class (exact) caliban.Event
---@field kind 'event'
---@field name string For example `CalibanTurnStart`.
---@field data table<string, string>

--- A message to the editor: a request with this table as its only argument. The program sends the next message after
--- the editor has answered the request.
---@alias caliban.ToNvim
---| caliban.Welcome
---| caliban.Session
---| caliban.Paint
---| caliban.Status
---| caliban.Propose
---| caliban.Read
---| caliban.Survey
---| caliban.Changed
---| caliban.Stamps
---| caliban.HeldTexts
---| caliban.DecidedSoFar
---| caliban.Save
---| caliban.Halt
---| caliban.Consult
---| caliban.Bounce
---| caliban.Models
---| caliban.Connect
---| caliban.Completed
---| caliban.Weighed
---| caliban.Sessions
---| caliban.Peeked
---| caliban.Held
---| caliban.Renamed
---| caliban.Deleted
---| caliban.Copied
---| caliban.History
---| caliban.Exit
---| caliban.Comments
---| caliban.Uncomment
---| caliban.Turns
---| caliban.Undo
---| caliban.Permissions
---| caliban.PlanOpened
---| caliban.Jobs
---| caliban.Agents
---| caliban.Skills
---| caliban.Todo
---| caliban.Preview
---| caliban.Restore
---| caliban.Refresh
---| caliban.Command
---| caliban.Request
---| caliban.Notice
---| caliban.Event
