/** A look that is ended while its program is still being started. */
import { expect, test } from 'vitest'
import { lookAt } from '../../../src/plugins/external/look.js'
import type { ChildPipe } from '../../../src/ports/effects.js'
import type { NativeHost } from '../../../src/ports/plugin.js'
import { noDoors } from '../../fakes/doors.js'
import { createFakeEffects } from '../../fakes/effects.js'

test('a program that comes up after the look has ended is ended as well, before the look says why', async () => {
  const stop = new AbortController()
  let begun = (): void => undefined
  const isBegun = new Promise<void>((resolve) => (begun = resolve))
  let comeUp = (_child: ChildPipe): void => undefined
  const told: string[] = []
  const host = {
    ...noDoors,
    effects: createFakeEffects(),
    actors: { add: () => undefined },
    stopping: stop.signal,
    programs: {
      open: () =>
        new Promise<ChildPipe>((resolve) => {
          comeUp = resolve
          begun()
        }),
    },
  } as unknown as NativeHost
  const looked = lookAt(host, {
    key: 'k',
    provider: 'codex',
    directory: '/work',
    adapter: { command: '/bin/agent', args: [], homes: [], countsAnew: false },
    env: {},
    selected: {},
  }).catch((error: unknown) => told.push(String(error)))
  await isBegun
  stop.abort()
  comeUp({
    write: () => true,
    closeInput: () => undefined,
    kill: () => void told.push('killed'),
    ended: new Promise(() => undefined),
    gone: Promise.resolve(),
  } as unknown as ChildPipe)
  await looked
  expect(told).toEqual(['killed', expect.stringContaining('the server stops')])
})
