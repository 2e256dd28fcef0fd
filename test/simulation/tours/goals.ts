/** Goals of sessions: what is followed, decided, paused and left to the next start. */
import type { GoalStep } from '../acts-goals.js'
import type { History, Step } from '../history.js'
import { GOALS as PLUGIN } from '../rows.js'
import { abort, calls, create, fails, full, hangs, kill, prompt, release, restart, says, wait, when } from './steps.js'

export const goal = (how: GoalStep['how'], name = 1): GoalStep => ({ do: 'goal', session: 0, how, name })

const off: Step = { do: 'configure', says: { guarded: 'ask', off: [PLUGIN] } }
const on: Step = { do: 'configure', says: { guarded: 'ask', off: [] } }

export const GOALS: Readonly<Record<string, History>> = {
  'a goal that goes on and is reached': [
    create,
    wait(),
    goal('sets'),
    prompt(1, [calls('answers'), says, calls('answers'), says, calls('completes'), says]),
    wait(5000),
  ],
  'a goal that makes no progress, is paused, resumed and cleared': [
    create,
    wait(),
    goal('again'),
    prompt(1),
    wait(5000),
    goal('sets'),
    goal('pauses'),
    wait(),
    goal('resumes'),
    wait(),
    prompt(2, [hangs]),
    wait(),
    abort(),
    wait(),
    goal('resumes'),
    goal('clears'),
    wait(),
  ],
  'a goal whose run fails': [create, wait(), goal('sets'), prompt(1, [fails]), wait(5000)],
  'a goal whose runs end with the server': [
    create,
    wait(),
    goal('sets'),
    when('run: working.preparing', kill),
    prompt(1),
    wait(5000),
    goal('sets', 2),
    prompt(2, [calls('answers'), hangs, calls('completes'), says]),
    wait(),
    restart,
    wait(5000),
    release(),
    wait(),
  ],
  'a goal of which nothing can be noted': [
    create,
    wait(),
    goal('sets'),
    when('run: working.preparing', kill),
    when('goal: deciding', full),
    prompt(1, [calls('answers'), says]),
    wait(5000),
    { do: 'free' },
    wait(60_000),
  ],
  'goals whose runs end while nobody looks': [
    create,
    wait(),
    goal('sets'),
    off,
    wait(5000),
    prompt(1, [fails]),
    wait(5000),
    on,
    wait(5000),
    goal('sets', 2),
    off,
    wait(5000),
    prompt(2, [calls('answers'), hangs]),
    wait(),
    abort(),
    wait(),
    on,
    wait(5000),
  ],
}
