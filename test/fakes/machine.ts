/** Programs that npm does not bring: what needs one that is not here is skipped, and its title names the program. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The end of a title: empty where all of these programs are in PATH, else the reason why the tests are skipped. */
export function lacking(...programs: readonly string[]): string {
  const missing = programs.filter((program) => !isInstalled(program))
  return missing.length === 0 ? '' : ` (skipped: not installed: ${missing.join(', ')})`
}

export function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
