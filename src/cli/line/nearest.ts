/** "Did you mean", as commands say it. Pure. */
import { nearest } from '../../protocol/text/nearest.js'

/** `; did you mean X?`, or nothing. */
export function meant(typed: string, names: readonly string[], show: (name: string) => string = (name) => name): string {
  const name = nearest(typed, names)
  return name === undefined ? '' : `; did you mean ${show(name)}?`
}
