/** Conversations that go back and forth in their history. */
import type { History, Step } from '../history.js'
import { broken, create, full, kill, prompt, wait, when } from './steps.js'

const undo: Step = { do: 'undo', session: 0 }
const redo: Step = { do: 'redo', session: 0 }
const said = [create, prompt(1), wait(), prompt(2), wait()]
const later = wait(60_000)

export const HISTORIES: Readonly<Record<string, History>> = {
  'the disk fails wherever a restore is': [
    ...said,
    when('restore: noting', full),
    undo,
    wait(),
    when('restore: forward.recording', broken),
    undo,
    later,
    when('restore: forward.recording', broken, when('restore: backward.forgetting', broken)),
    undo,
    later,
    when('restore: forward.recording', broken, when('restore: backward', full), { do: 'slow', ms: 0 }),
    undo,
    later,
    undo,
    wait(),
    redo,
    wait(),
  ],
  'the server dies wherever a restore is': [
    ...said,
    when('restore: forward.writing', kill),
    undo,
    wait(),
    when('restore: forward.recording', kill),
    redo,
    wait(),
    undo,
    wait(),
  ],
  'a restore is given up, and taken up by the next start': [
    ...said,
    when('restore: backward', full),
    when('restore: forward.recording', full, when('restore: backward.forgetting', { do: 'fill', how: 'EIO' })),
    undo,
    wait(1),
    { do: 'fill', how: 'EROFS' },
    later,
    later,
    kill,
    wait(),
  ],
}
