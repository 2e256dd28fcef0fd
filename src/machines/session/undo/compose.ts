import { type FileStep, planFiles } from './plan.js'

/** The changes of many calls as one: a step for each file. Where somebody changed a file in between, all of them, so that an undo finds that. */
export function composeSteps(steps: readonly FileStep[]): readonly FileStep[] {
  const { files, conflicts } = planFiles(steps)
  return conflicts.length === 0 ? files : steps
}
