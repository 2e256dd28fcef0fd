/** Defects of goals, each with a history that shows it, and what of that is told. */
import type { Defect } from './life.js'
import { GOALS } from './rows.js'
import type { History } from './history.js'
import { goal } from './tours/goals.js'
import { calls, create, kill, prompt, says, wait, when } from './tours/steps.js'

export const GOAL_DEFECTS: Readonly<Record<string, () => Defect>> = {
  'a kill of which a goal hears nothing': () => ({
    store: (store) => ({
      ...store,
      runs: {
        ...store.runs,
        last(sessionId) {
          const run = store.runs.last(sessionId)
          return run?.status === 'interrupted' ? { ...run, status: 'running' } : run
        },
      },
    }),
  }),
  'a goal that is reached and pursued': () => ({
    store: (store) => ({
      ...store,
      pluginRows: {
        ...store.pluginRows,
        delete(plugin, kind, id) {
          if (plugin !== GOALS) store.pluginRows.delete(plugin, kind, id)
        },
      },
    }),
  }),
}

const begun = [create, wait(), goal('sets')]

export const GOALS_SHOWN: Readonly<Record<string, readonly [says: string, history: History]>> = {
  'a kill of which a goal hears nothing': [
    'a goal goes on after a run that has ended',
    [...begun, when('run: working.preparing', kill), prompt(1), wait(5000)],
  ],
  'a goal that is reached and pursued': [
    'a goal is pursued as long as it is active and not paused',
    [...begun, prompt(1, [calls('completes'), says]), wait(5000)],
  ],
}
