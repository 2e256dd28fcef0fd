/** A home with the state an old svc has made, and a configuration. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { layOutState } from '../../fixtures/old-states.js'

export interface Kept {
  readonly root: string
  readonly state: string
  readonly config: string
  close(): void
}

export function makeKept(schema?: number): Kept {
  const root = mkdtempSync(join(tmpdir(), 'svc-kept-'))
  const state = join(root, 'state')
  const config = join(root, 'config')
  mkdirSync(state, { mode: 0o700 })
  mkdirSync(join(config, 'plugins', 'dev.example.one'), { recursive: true })
  if (schema !== undefined) layOutState(schema, state)
  writeFileSync(join(state, 'auth.json'), '{"planted":"secret"}')
  writeFileSync(join(config, 'config.json'), '{ "username": "ada" }')
  writeFileSync(join(config, 'plugins', 'dev.example.one', 'svc-plugin.json'), '{}')
  return { root, state, config, close: () => rmSync(root, { recursive: true, force: true }) }
}

/** Path and bytes of every file below, in order. */
export function filesOf(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .toSorted()
      .filter((path) => statSync(join(directory, path)).isFile())
      .map((path) => [path, readFileSync(join(directory, path), 'base64')]),
  )
}
