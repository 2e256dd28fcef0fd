/** Directories that a person names. */
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { SvcError } from '../protocol/errors.js'

/** Its canonical path; undefined = the current one. Throws when it does not exist. */
export function existingDirectory(named: string | undefined): string {
  const directory = resolve(named ?? '.')
  try {
    return realpathSync(directory)
  } catch (cause) {
    throw new SvcError('request.invalid_directory', `${directory} does not exist`, {}, { cause })
  }
}

/** As `existingDirectory`; what a named server sees may be elsewhere. */
export function directoryOn(server: string | undefined, named: string | undefined): string {
  return server === undefined ? existingDirectory(named) : resolve(named ?? '.')
}
