import { describe, expect, it } from 'vitest'
import { type AnyMachineSnapshot, type EventObject, initialTransition, transition } from 'xstate'
import { screenMachine } from '../../../src/machines/screen/screen.machine.js'
import { explore, missing } from '../paths.js'

const input = { random: () => 0 }
const done = (actorId: string, output?: unknown) => ({ type: `xstate.done.actor.${actorId}`, output, actorId })
const error = (actorId: string) => ({ type: `xstate.error.actor.${actorId}`, error: new Error('broken'), actorId })
const OPEN = '0.screen.opening'
const opened = done(OPEN)
const of = (...types: readonly string[]) => types.map((type) => ({ type }))

function walk(...events: readonly EventObject[]) {
  let [snapshot] = initialTransition(screenMachine, input) as unknown as [AnyMachineSnapshot]
  for (const event of events) [snapshot] = transition(screenMachine, snapshot as never, event as never) as unknown as [AnyMachineSnapshot]
  return {
    value: snapshot.value,
    status: snapshot.status,
    output: snapshot.output as unknown,
    losses: (snapshot.context as { losses: number }).losses,
  }
}

describe('the machine of the screen', () => {
  it('has every transition covered by generated paths', () => {
    const explored = explore(
      screenMachine,
      input,
      [
        opened,
        error(OPEN),
        ...of('session.chosen', 'link.up', 'link.lost', 'run.began', 'run.ended', 'run.followed', 'request.opened', 'requests.settled'),
        ...of('person.typed', 'person.interrupted', 'person.left'),
        { type: 'link.refused', failure: 'no' } as never,
        { type: 'xstate.after.untilTry.screen.open.link.away' },
      ],
      { key: ({ context: { isChosen, losses } }: AnyMachineSnapshot) => [isChosen, losses > 0] },
    )
    expect(missing(explored)).toEqual([])
  })

  it('ends what runs first, and leaves when Ctrl-C is pressed again', () => {
    expect(walk(opened, ...of('run.began', 'person.interrupted')).value).toMatchObject({ open: { work: 'aborting', person: 'staying' } })
    expect(walk(opened, ...of('run.began', 'person.interrupted', 'run.ended', 'person.interrupted')).value).toMatchObject({
      open: { work: 'idle', person: 'warned' },
    })
    expect(walk(opened, ...of('run.began', 'person.interrupted', 'person.interrupted')).status).toBe('done')
    expect(walk(opened, ...of('person.interrupted', 'person.interrupted')).status).toBe('done')
    expect(walk(opened, ...of('person.interrupted', 'person.typed', 'person.interrupted')).value).toMatchObject({
      open: { person: 'warned' },
    })
  })

  it('seeks a lost connection for as long as the person stays', () => {
    const lost = of('session.chosen', 'link.lost', 'xstate.after.untilTry.screen.open.link.away', 'link.lost')
    expect(walk(opened, ...lost)).toMatchObject({ value: { open: { link: 'away' } }, losses: 2 })
    expect(walk(opened, ...lost, ...of('xstate.after.untilTry.screen.open.link.away', 'link.up')).losses).toBe(0)
    expect(walk(opened, ...lost, ...of('person.left')).status).toBe('done')
  })

  it('follows a session that was chosen while it opened', () => {
    expect(walk(...of('session.chosen'), opened).value).toMatchObject({ open: { link: 'following' } })
  })
})
