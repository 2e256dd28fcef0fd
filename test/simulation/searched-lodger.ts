/** Seeds of wide histories that have found a defect of the lodger, and what is seen not to hold. */
const UNAPPROVED = 'nothing of a plugin is started, called or brought about that nobody approves'
const LEFT = 'a program that was told to end is gone in its time'

export const LODGER_KEPT: Readonly<Record<string, readonly [seed: number, says: string]>> = {
  'a revocation that nobody reads': [4, UNAPPROVED],
  'an approval that counts for whatever is there': [4, UNAPPROVED],
  'a write of a plugin that comes late': [14, UNAPPROVED],
  'a program that is not killed': [8, LEFT],
  'a program that is not killed, whatever ends': [8, LEFT],
  'a call that is waited for for ever': [10, 'a call of a plugin ends in its time'],
  'a program that is not told to end': [8, 'of a plugin runs one program'],
}
