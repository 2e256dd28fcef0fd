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

/** Two packages below `root` with the same published revision: what is a file of the second is bytes of one in the first. */
export function writeTwins(root: string, contents: Readonly<Record<string, string>> = {}, manifest?: object): readonly [string, string] {
  const one = writePackage(join(root, 'one'), contents, manifest)
  const two = writePackage(join(root, 'two'), { ...contents, zdata: 'x', 'zz.sh': 'evil' }, manifest)
  writeFileSync(join(one, 'zdata'), Buffer.concat([Buffer.from('x'), Buffer.of(0xff), Buffer.from('zz.sh\0evil')]))
  return [one, two]
}
