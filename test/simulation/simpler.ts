/** A step, and one that is easier to read and may show the same. */
import type { Play, Step, Workflow } from './history.js'

const PLAIN: Workflow = { schedule: 'hourly', concurrency: 'forbid', attempts: 1, active: true }

/** Ever so many steps in place of the one, those that leave out most first; none is the step itself. */
export function simplerThan(step: Step): readonly Step[] {
  const { turns, ...rest } = step
  const plain: Step = rest
  const simpler = turns === undefined ? [] : [plain]
  if ('plays' in step) simpler.push(...simplerPlays(step.plays).map((plays): Step => ({ ...step, plays })))
  if (step.do === 'save') simpler.push(...differing(PLAIN, step.says).map((says): Step => ({ ...step, says })))
  if (step.do === 'wait' && step.ms > 1000) simpler.push({ ...step, ms: 1000 }, { ...step, ms: 31_000 })
  if (step.do === 'die' && step.torn !== 1) simpler.push({ ...step, torn: 1 })
  return simpler.filter((each) => JSON.stringify(each) !== JSON.stringify(step))
}

/** With one member as in the plain one. */
function differing(plain: Workflow, says: Workflow): readonly Workflow[] {
  return Object.keys(plain).map((key) => ({ ...says, [key]: plain[key as keyof Workflow] }))
}

function simplerPlays(plays: readonly Play[]): readonly (readonly Play[])[] {
  const silent = plays.map((play): Play => ({ ...play, words: 0 }))
  const fewer = plays.map((_, at) => plays.toSpliced(at, 1))
  const within = plays.flatMap((play, at) => simplerCalls(play).map((each) => plays.with(at, each)))
  return [[], silent, ...fewer, ...within]
}

function simplerCalls(play: Play): readonly Play[] {
  if (play.as !== 'calls') return []
  const { below = [], ...rest } = play
  const fewer = play.tools.map((_, at): Play => ({ ...play, tools: play.tools.toSpliced(at, 1) }))
  const under = below.length === 0 ? [] : [rest, ...simplerPlays(below).map((each): Play => ({ ...play, below: each }))]
  return [...fewer.filter((each) => each.as === 'calls' && each.tools.length > 0), ...under]
}
