import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Writes files below `root`, making folders; `manifest` objects become `svc-plugin.json`. Answers `root`. */
export function writePackage(root: string, contents: Readonly<Record<string, string>>, manifest?: object): string {
  mkdirSync(root, { recursive: true })
  if (manifest !== undefined) writeFileSync(join(root, 'svc-plugin.json'), JSON.stringify(manifest))
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

export function makeExecutable(path: string): void {
  chmodSync(path, 0o755)
}
