/** Files that hold a secret: only their owner may read them. */
import { readFileSync, statSync } from 'node:fs'

export function readSecret(file: string): Buffer {
  const { mode } = statSync(file)
  if ((mode & 0o077) !== 0) throw new Error(`${file} can be read by others: chmod 600 ${file}`)
  return readFileSync(file)
}
