/** Plugins that are switched off and on wherever they are. */
import type { History, Step } from '../history.js'
import { MOODY } from '../moody.js'
import { calls, create, prompt, wait } from './steps.js'

const mood = (is: Extract<Step, { readonly do: 'mood' }>['is']): Step => ({ do: 'mood', is })
const off = (...ids: string[]): Step => ({ do: 'configure', says: { guarded: 'ask', off: ids } })
const long = wait(60_000)

export const PLUGINS: Readonly<Record<string, History>> = {
  'a plugin refuses, clashes and lingers': [
    create,
    prompt(1),
    wait(5000),
    mood('refuses'),
    off(MOODY),
    wait(5000),
    off(),
    wait(5000),
    mood('rivals'),
    off(MOODY),
    wait(5000),
    off(),
    wait(5000),
    mood('well'),
    off(MOODY),
    wait(5000),
    off(),
    wait(5000),
    mood('lingers'),
    off(MOODY),
    wait(5000),
    off(),
    wait(1000),
    off(MOODY),
    wait(1000),
    long,
    long,
    off(),
    long,
  ],
  'a plugin is switched off while a tool of it is late': [
    create,
    prompt(1, [calls('late')]),
    wait(5000),
    off('test.played'),
    long,
    long,
    off(),
    long,
    prompt(2, [calls('answers')]),
    wait(),
  ],
}
