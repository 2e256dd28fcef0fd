/** Of each defect of the lodger a history that shows it, and what of that is told. */
import type { History } from './history.js'
import { approves, asks, dies, hangs, manner, movesIn, revokes, stirs } from './tours/lodger.js'
import { create, kill, restart, wait } from './tours/steps.js'

const lodged = [create, movesIn, approves, wait(5000), asks(1), wait()]

export const LODGER_SHOWN: Readonly<Record<string, readonly [says: string, history: History]>> = {
  'a revocation that nobody reads': [
    'nothing of a plugin is started, called or brought about that nobody approves',
    [...lodged, revokes, wait(2500), asks(2)],
  ],
  'an approval that counts for whatever is there': [
    'nothing of a plugin is started, called or brought about that nobody approves',
    [...lodged, movesIn, restart, asks(2), wait(5000)],
  ],
  'a write of a plugin that comes late': [
    'nothing that a plugin asked for comes about once it was told to end',
    [...lodged, stirs, dies, wait(5000)],
  ],
  'a program that is not killed': ['a program that was told to end is gone in its time', [...lodged, hangs, revokes, wait(3000)]],
  'a program that is not killed, whatever ends': ['no program outlives its server', [...lodged, hangs, kill]],
  'a call that is waited for for ever': ['a call of a plugin ends in its time', [...lodged, manner('hangs'), asks(2), wait(125_000)]],
  'a program that is not told to end': ['of a plugin runs one program', [...lodged, movesIn, approves, wait(5000)]],
}
