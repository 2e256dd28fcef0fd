/** Keys and values of the configuration as they are typed, judged before anything is written. */
import { publishedConfigSchema } from '../../../actors/resource/config/config-reference.js'
import { wrongUse } from '../../line/wrong-use.js'
import { unknownKey } from './key-check.js'

/** JSON where it is JSON, else the text itself. */
export function meantValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** What follows a question, or is in brackets, needs no full stop before it. */
const isRemark = (near: string | undefined, hint: string) => near !== undefined || hint.startsWith('(')

/** Throws where svc does not know the key; `hint` is a sentence that stands behind, or a remark in brackets. */
export function refuseUnknown(steps: readonly string[], hint: string): void {
  const unknown = unknownKey(publishedConfigSchema(), steps)
  if (unknown === undefined) return
  const { key, near, known } = unknown
  const step = key.slice(0, key.length - (steps[key.split('.').length - 1] ?? '').length)
  const instead =
    near === undefined
      ? `${step === '' ? 'the keys are' : `"${step.slice(0, -1)}" has`} ${known.join(', ')}`
      : `did you mean "${step}${near}"?`
  throw wrongUse(`there is no key "${key}"; ${instead}${isRemark(near, hint) ? '' : '.'} ${hint}`)
}
