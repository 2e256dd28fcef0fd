/** Whether this machine has a sandbox to test. */
import { spawnSync } from 'node:child_process'

/** The end of a title of what needs a sandbox: empty where there is one, else the reason why it is skipped. */
export function lackingSandbox(): string {
  const why = whyNoBubblewrap()
  return why === undefined ? '' : ` (skipped: ${why})`
}

/** Why there is none; undefined = there is one. */
export function whyNoBubblewrap(): string | undefined {
  const { error, status, stderr } = spawnSync('bwrap', ['--ro-bind', '/', '/', 'true'], { encoding: 'utf8' })
  if (error !== undefined) return 'bubblewrap is not installed'
  return status === 0 ? undefined : `bubblewrap does not work here: ${stderr.trim()}`
}
