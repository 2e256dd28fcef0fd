/** Seeds of wide histories that have found a defect of the lodger, or of tenants, and what is seen not to hold. */
const UNAPPROVED = 'nothing of a plugin is started, called or brought about that nobody approves'
const OF_OTHERS = 'a tenant hears and reads nothing of another'

export const WIDE_KEPT: Readonly<Record<string, readonly [seed: number, says: string]>> = {
  'a revocation that nobody reads': [4, 'no program runs of a plugin that nobody approves'],
  'an approval that counts for whatever is there': [6, UNAPPROVED],
  'a write of a plugin that comes late': [2, 'nothing that a plugin asked for comes about once it was told to end'],
  'a program that is not killed': [22, 'a program that was told to end is gone in its time'],
  'a program that is not killed, whatever ends': [2, 'no program outlives its server'],
  'a call that is waited for for ever': [76, 'no run is left busy with nobody behind it'],
  'a program that is not told to end': [22, 'of a plugin runs one program'],
  'a subscriber that hears as if it were local': [1, OF_OTHERS],
  'a list of what is busy for everybody': [2, OF_OTHERS],
  'a session that its tenant does not find': [2, 'a tenant has what is its own'],
}
