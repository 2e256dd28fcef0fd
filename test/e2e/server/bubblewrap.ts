/** Whether this machine has a sandbox to test. */
import { spawnSync } from 'node:child_process'

/** Why there is none; undefined = there is one. */
export function whyNoBubblewrap(): string | undefined {
  const { error, status, stderr } = spawnSync('bwrap', ['--ro-bind', '/', '/', 'true'], { encoding: 'utf8' })
  if (error !== undefined) return 'bubblewrap is not installed'
  return status === 0 ? undefined : `bubblewrap does not work here: ${stderr.trim()}`
}
