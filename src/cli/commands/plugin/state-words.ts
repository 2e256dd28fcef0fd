/** States of packages in sentences that a stranger understands, and what each needs. Pure. */
import type { PackageLifecycleInfo, PackageState } from '../../../protocol/plugin/plugin.js'

const WORDS: Readonly<Record<PackageState, string>> = {
  discovered: 'was found, and is being looked at',
  'permission-required': 'waits for your approval, and nothing of it runs',
  trusted: 'is approved, and starts when it is needed',
  enabled: 'is approved and switched on, and starts when it is needed',
  loading: 'is starting',
  active: 'serves',
  degraded: 'failed just now, and is tried again',
  failed: 'does not run',
  disabled: 'is switched off',
  'update-available': 'serves with what was approved; its content changed since, and waits for your approval',
  restoring: 'is being brought back to earlier content',
}

const FAILED_UPDATE = 'serves with earlier content, because what it is now did not start'

type Lives = Pick<PackageLifecycleInfo, 'packageId' | 'state' | 'diagnostics'>

/** The rest of a sentence that begins with the id of a package. */
export function stateWords(lives: Omit<Lives, 'packageId'>): string {
  return isFailedUpdate(lives) ? FAILED_UPDATE : WORDS[lives.state]
}

/** Its new content is approved and did not start, so what was before still serves. */
export function isFailedUpdate({ state, diagnostics }: Omit<Lives, 'packageId'>): boolean {
  return state === 'update-available' && diagnostics.some(({ code }) => code === 'failed')
}

const TROUBLED: ReadonlySet<PackageState> = new Set(['permission-required', 'degraded', 'failed', 'update-available'])

/** What keeps a package from serving all that is there, and the command that mends it; undefined when nothing does. */
export function troubleOf(lives: Lives): string | undefined {
  const { packageId, state, diagnostics } = lives
  if (!TROUBLED.has(state)) {
    const reported = diagnostics.find(({ code }) => code === 'reported')
    return reported && `${stateWords(lives)}, but not whole: ${reported.message} -> svc logs --plugin ${packageId}`
  }
  const isWaiting = state === 'permission-required' || (state === 'update-available' && !isFailedUpdate(lives))
  const reasons = isWaiting ? '' : diagnostics.map(({ message }) => message.replace(/\.$/, '')).join('; ')
  const hasRun = diagnostics.some(({ code }) => code === 'failed' || code === 'degraded')
  const mend = isWaiting
    ? `look at it, then: svc plugin trust ${packageId}`
    : hasRun
      ? `svc logs --plugin ${packageId}`
      : `svc plugin doctor ${packageId}`
  return `${stateWords(lives)}${reasons === '' ? '' : `: ${reasons}`} -> ${mend}`
}
