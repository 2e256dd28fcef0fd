/** Conversations that go back and forth in their history, with the files that were written in them. */
import type { History, Step } from '../history.js'
import { broken, calls, create, full, kill, prompt, says, slow, wait, when } from './steps.js'

const undo: Step = { do: 'undo', session: 0 }
const redo: Step = { do: 'redo', session: 0 }
const edits: Step = { do: 'folder', path: 'files/1.txt', how: 'writes' }
const said = [create, prompt(1, [calls('writes'), says]), wait(), prompt(2, [calls('answers', 'writes'), says]), wait()]
const later = wait(60_000)

export const HISTORIES: Readonly<Record<string, History>> = {
  'the disk fails wherever a restore is': [
    ...said,
    when('restore: checking', broken),
    undo,
    wait(),
    when('restore: noting', full),
    undo,
    wait(),
    when('restore: forward.writing', broken),
    undo,
    later,
    when('restore: forward.recording', full, when('restore: backward.takingBack', full), when('restore: backward.forgetting', full)),
    undo,
    later,
    undo,
    wait(),
    redo,
    wait(),
    when('restore: forward.recording', full),
    when('restore: backward', full),
    undo,
    later,
    undo,
    later,
  ],
  'the server dies wherever a restore is': [
    ...said,
    when('restore: forward.writing', kill),
    undo,
    wait(),
    when('restore: forward.recording', kill),
    redo,
    wait(),
    slow(100),
    when('restore: forward.writing', kill),
    when('restore: assessing', broken),
    undo,
    wait(),
    kill,
    wait(),
    undo,
    wait(),
  ],
  'a file is changed by others while its server is dead': [
    ...said,
    when('restore: forward.writing', edits, kill),
    undo,
    wait(),
    undo,
    wait(),
  ],
}
