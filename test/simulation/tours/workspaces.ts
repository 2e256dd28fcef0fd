/** Folders in use, and what is looked at there. */
import type { History, Step } from '../history.js'
import { broken, create, prompt, restart, slow, wait, when } from './steps.js'

const HOUR = 3_600_000
const makes = (path: string): Step => ({ do: 'folder', path, how: 'makes' })
const removes = (path: string): Step => ({ do: 'folder', path, how: 'removes' })
const says = (guarded: 'ask' | 'allow'): Step => ({ do: 'configure', says: { guarded, off: [] } })

export const WORKSPACES: Readonly<Record<string, History>> = {
  'a workspace is looked at while it changes, and forgotten': [
    create,
    makes('.svc/plugins/one'),
    wait(),
    prompt(1),
    wait(5000),
    slow(300),
    makes('.svc/plugins/two'),
    wait(400),
    makes('.svc/plugins/three'),
    wait(400),
    removes('.svc/plugins/two'),
    says('allow'),
    wait(100),
    says('ask'),
    wait(100),
    makes('.svc/plugins/four'),
    wait(5000),
    slow(0),
    when('workspace: tracked.files.looking', broken),
    makes('.svc/plugins/five'),
    wait(60_000),
    slow(500),
    when('workspace: tracked.files.looking', says('allow')),
    makes('.svc/plugins/six'),
    wait(60_000),
    slow(0),
    wait(2 * HOUR),
    wait(20 * HOUR),
    prompt(2),
    wait(),
  ],
  'what is looked at cannot be read': [
    create,
    prompt(1),
    wait(5000),
    when('look: looking', slow(500)),
    says('allow'),
    wait(200),
    says('ask'),
    wait(200),
    broken,
    wait(3000),
    { do: 'free' },
    slow(0),
    wait(5000),
    when('look: looking', slow(500)),
    says('allow'),
    wait(200),
    broken,
    restart,
    wait(5000),
  ],
}
