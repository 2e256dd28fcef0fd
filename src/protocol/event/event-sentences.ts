/** What each event says, in a sentence for those who read the reference; every type of `EVENT_DATA` has one. */
export const EVENT_SENTENCES = {
  'session.created': 'A session was created, by a client, as a copy, or as the child of a task.',
  'session.updated':
    'The record of a session is another one: its title, agent, model, rules, or that it was archived. `info` is the whole record.',
  'session.deleted': 'A session is gone, with its messages; `info` is what it was.',
  'session.control.updated': 'Somebody has taken or given up the control of a shared session; null when nobody has it.',
  'session.moved': 'A session works in another directory from now on.',
  'session.status': 'A session is busy, waits to ask the model again (`retry`), or is idle. `idle` ends a run, however it ended.',
  'session.error': 'A run failed, and this is why. `session.status` follows with `idle`.',
  'session.prompt.admitted': 'A prompt was accepted and will survive a restart; it has not begun.',
  'session.queue.updated': 'A prompt has joined or left the queue of a session; `queue` is what waits now.',
  'session.context.updated': 'The system texts that a model is shown before the conversation have changed.',
  'session.next.compaction.started': 'The conversation is about to be made shorter, before the answer goes on.',
  'session.next.compaction.delta': 'More text of the summary that is being written. Not stored.',
  'session.next.compaction.ended': 'The summary is written, is still too long (`over`), or could not be written (`error`).',
  'session.compacted': 'A model is shown the summary from now on, in place of what came before it; all messages are kept.',
  'session.execution.updated':
    'The work of a session and of the tasks below it is another one: what runs, since when, and what it has cost.',
  'session.subtask.completed': 'A task that a session has delegated to a child has ended; `result` is told to the session.',
  'session.background_task.completed': 'A command in the background has ended; its end is told to the session once.',
  'session.background_tasks.updated': 'The commands in the background of a session are others, or one of them is further.',
  'session.catalog.activity':
    'For lists of sessions: one runs, works in the background, waits for a permission, or is idle. Only in the stream of the catalogue; not stored.',
  'message.updated':
    'A message is new, or its head has changed: `time.completed`, `finish`, `error`, tokens and cost. Its parts have events of their own.',
  'message.removed': 'A message was removed.',
  'message.part.updated':
    'A part of a message (text, reasoning, tool call, file, step) is new or has changed; `part` is the whole part, and replaces what deltas have told.',
  'message.part.removed': 'A part of a message was removed.',
  'message.part.delta':
    'More text for `field` of a part, to be appended. Not stored: a replay has the whole part in `message.part.updated`.',
  'permission.asked': 'A tool call waits for a permission. Answer with `POST /v2/interactions/permissions/{request_id}/reply`.',
  'permission.replied':
    'A permission request is settled, by whomever: answered, denied because nobody attended, or withdrawn with its run.',
  'permission.remembered': '"Always" answers are remembered from now on, which were given in the session.',
  'permission.forgotten': 'A remembered answer was taken back; `sessionID` is where it was given, if that is known.',
  'question.asked': 'The agent asks its user something. Answer with `POST /v2/interactions/questions/{request_id}/reply`, or `/reject`.',
  'question.replied': 'A question is answered.',
  'question.rejected': 'A question was rejected, has expired, or was withdrawn with its run.',
  'todo.updated': 'The agent has changed its list of things to do; `todos` is all of it.',
  'config.updated': 'The configuration is another one; `directory` is absent when it is that of the installation.',
  'package.updated': 'A plugin package is in another state; `directory` is absent for packages of every workspace.',
  'workflow.updated': 'A workflow was added, changed, switched or removed; without `workflow`, its file is gone or not valid.',
  'workflow.run.updated': 'A run of a workflow has begun, gone on or ended; `run` is all of it.',
  'pty.created': 'A terminal was opened.',
  'pty.updated': 'A terminal has another title or size.',
  'pty.deleted': 'A terminal was removed.',
  'pty.exited': 'The program of a terminal has ended; `exitStatus` is null when a signal ended it.',
  'management.repository.progress':
    "How far the clone into `directory` is: the phase in git's words, 0 to 100. At most one for each percent of a phase; none is kept.",
  'vcs.branch.updated': 'Another branch is checked out; null while HEAD is detached. `directory` is the root of the worktree.',
  'vcs.updated': 'Something of the working tree of a directory has changed: fetch its status again.',
  'lsp.updated': 'Language servers have found something else than before: fetch the diagnostics again.',
  'mcp.tools.changed': 'The tools of a server of the Model Context Protocol are others than before.',
} as const
