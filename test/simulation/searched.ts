import { WIDE_KEPT } from './searched-wide.js'

/** Of each defect a seed whose history shows it (`npm run simulate -- --defects`), and what is seen not to hold. */
export const KEPT: Readonly<Record<string, readonly [seed: number, says: string]>> = {
  'told before the commit, which then fails': [1, 'no durable event is missing or doubled on the wire'],
  'an abort that is lost': [11, 'an abort that was acknowledged ends its run'],
  'a prompt that is claimed twice': [1, 'a prompt that was acknowledged is there exactly once'],
  'a part that is left open': [3, 'no part is open in a message that has ended'],
  'an answer that is accepted twice': [1, 'a request is answered once'],
  'a cursor that skips one': [3, 'no durable event is missing or doubled on the wire'],
  'an event that is sent twice': [1, 'sequences on the wire only grow, and each is a cursor'],
  'an event that is left out': [1, 'no durable event is missing or doubled on the wire'],
  'a frame that comes late': [1, 'sequences on the wire only grow, and each is a cursor'],
  'a page of the log that lacks its first': [1, 'no durable event is missing or doubled on the wire'],
  'a prompt that is acknowledged and not admitted': [1, 'a prompt that was acknowledged is there exactly once'],
  'a refusal that counts as an answer': [5, 'a tool is executed where somebody or a rule allows it'],
  'messages that are taken back and stay': [5, 'a client that folded the events has what REST answers'],
  'a run whose end is lost': [1, 'no run is left busy with nobody behind it'],
  'a request that is withdrawn and stays': [1, 'a request is answered once'],
  'an answer that does not wait for its sync': [4, 'a prompt that was acknowledged is there exactly once'],
  'a commit that fails and is told as done': [1, 'no durable event is missing or doubled on the wire'],
  'runs that a start does not end': [1, 'no run is left busy with nobody behind it'],
  'answers that a start does not close': [1, 'no part is open in a message that has ended'],
  ...WIDE_KEPT,
}
