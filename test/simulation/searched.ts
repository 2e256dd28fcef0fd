/** Of each defect a seed whose history shows it (`npm run simulate -- --defects`), and what is seen not to hold. */
export const KEPT: Readonly<Record<string, readonly [seed: number, says: string]>> = {
  'a sync that is missing': [3, 'a session that was acknowledged is there'],
  'told before the commit, which then fails': [1, 'no durable event is missing or doubled on the wire'],
  'an abort that is lost': [11, 'an abort that was acknowledged ends its run'],
  'a prompt that is claimed twice': [2, 'no run is left busy with nobody behind it'],
  'a part that is left open': [4, 'no part is open in a message that has ended'],
  'an answer that is accepted twice': [2, 'a request is answered once'],
  'a cursor that skips one': [5, 'sequences on the wire only grow, and each is a cursor'],
  'a queue without a bound': [13, 'the queue of a session is bounded'],
  'an event that is sent twice': [1, 'sequences on the wire only grow, and each is a cursor'],
  'an event that is left out': [1, 'no durable event is missing or doubled on the wire'],
  'a frame that comes late': [1, 'sequences on the wire only grow, and each is a cursor'],
  'a page of the log that lacks its first': [1, 'no durable event is missing or doubled on the wire'],
  'a prompt that is acknowledged and not admitted': [1, 'a prompt that was acknowledged is there exactly once'],
  'a refusal that counts as an answer': [2, 'a tool is executed where somebody or a rule allows it'],
  'tasks that stay when their session goes': [12, 'nothing is kept of a task whose session is gone'],
}
