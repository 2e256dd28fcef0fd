/** What holds of plugins that run in processes of their own. */
import { LIMITS } from '../../src/protocol/limits.js'
import type { Invariant } from './invariants.js'
import { MARGIN } from './lodger.js'
import type { Program } from './lodger-program.js'
import type { World } from './world.js'

export const LODGER_INVARIANTS: readonly Invariant[] = [
  { says: 'nothing of a plugin is started, called or brought about that nobody approves', when: 'always', fault: nothingUnapproved },
  { says: 'nothing that a plugin asked for comes about once it was told to end', when: 'always', fault: nothingRetired },
  { says: 'no program runs of a plugin that nobody approves', when: 'always', fault: noneUnapproved },
  { says: 'no program outlives its server', when: 'always', fault: noneOutlives },
  { says: 'a program that was told to end is gone in its time', when: 'always', fault: goneInTime },
  { says: 'a call of a plugin ends in its time', when: 'always', fault: callsEnd },
  { says: 'of a plugin runs one program', when: 'calm', fault: oneProgram },
]

function nothingUnapproved({ lodger: { deeds } }: World): string | undefined {
  const wrong = deeds.find((deed) => !deed.isApproved)
  return wrong && `the program ${wrong.program} of the content ${wrong.content} ${wrong.what}`
}

function nothingRetired({ lodger: { deeds } }: World): string | undefined {
  const wrong = deeds.find(({ isRetired }) => isRetired)
  return wrong && `the program ${wrong.program} of the content ${wrong.content} ${wrong.what}`
}

function noneOutlives({ lodger: { orphans } }: World): string | undefined {
  return orphans.length === 0 ? undefined : `the program ${orphans[0]} runs`
}

function running({ lodger: { programs, life } }: World): readonly Program[] {
  return programs.filter((program) => program.life === life && !program.isOver)
}

function noneUnapproved(world: World): string | undefined {
  const contents = world.lodger.running.values().flat()
  const wrong = running(world).find(({ content }) => !contents.includes(content))
  return wrong && `the program ${wrong.number} of the content ${wrong.content} runs`
}

function goneInTime(world: World): string | undefined {
  const until = world.life.clock.monotonic() - LIMITS.plugins.shutdownGrace - MARGIN
  const left = running(world).find(({ retiredAt }) => retiredAt !== undefined && retiredAt < until)
  return left && `the program ${left.number} was told so at ${left.retiredAt}`
}

function callsEnd(world: World): string | undefined {
  const since = world.life.clock.monotonic() - LIMITS.plugins.callTimeout - MARGIN
  for (const { number, calls } of running(world)) {
    const old = [...calls].find(([, at]) => at < since)
    if (old !== undefined) return `the program ${number} was called at ${old[1]}`
  }
  return undefined
}

function oneProgram(world: World): string | undefined {
  const all = running(world)
  return all.length > 1 ? `${all.map(({ number }) => number).join(' and ')} run` : undefined
}
