/** Folders in use, and what is looked at there. */
import type { History, Step } from '../history.js'
import { broken, create, prompt, slow, wait, when } from './steps.js'

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
    wait(2 * HOUR),
    wait(20 * HOUR),
    prompt(2),
    wait(),
  ],
}
