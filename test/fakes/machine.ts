/** Programs that npm does not bring: what needs one that is not here is skipped, and its title names the program. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** README.md names each, and what browsers and sandboxes need besides. */
export const PROGRAMS = [
  'bash',
  'cc',
  'clangd',
  'curl',
  'fish',
  'groff',
  'openssl',
  'perl',
  'python3',
  'rustfmt',
  'sqlite3',
  'timeout',
  'zsh',
] as const
export type Program = (typeof PROGRAMS)[number]

/** The end of a title: empty where all of these programs are in PATH, else the reason why the tests are skipped. */
export function lacking(...programs: readonly Program[]): string {
  const missing = programs.filter((program) => !isInstalled(program))
  return missing.length === 0 ? '' : ` (skipped: not installed: ${missing.join(', ')})`
}

export function isInstalled(program: Program): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Cases by language, each with the end of its title; what is not empty there skips the case. */
export function inLanguages<Language extends string>(...languages: readonly Language[]) {
  return languages.map((language) => ({ language, why: language === 'python' ? lacking('python3') : '' }))
}

/** A line of the shell that prints the process group of the shell. */
export const OWN_GROUP = process.platform === 'linux' ? 'read -r line < /proc/$$/stat; set -- ${line##*) }; echo $3' : 'ps -o pgid= -p $$'
