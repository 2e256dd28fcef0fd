/** Who acts, and on what. */
import type { Ids } from '../../src/protocol/ids.js'
import type { Knowing } from './known.js'
import type { Life } from './life.js'

export interface Acting {
  readonly known: Knowing
  readonly life: Life
  /** Of messages that clients send. */
  readonly ids: Pick<Ids, 'next'>
  /** What comes of a call is noted when it comes, unless the server has died. */
  call<T>(what: string, work: () => T | Promise<T>, then?: (value: T) => void): void
}

/** What the operator does with a file may fail as what the server does. */
export async function written({ trace }: Knowing, work: Promise<void>, then: () => void = () => undefined): Promise<void> {
  await work.then(then, (error: unknown) => trace.add(String(error)))
}
