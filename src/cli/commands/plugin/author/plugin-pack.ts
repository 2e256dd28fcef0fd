/** `svc plugin pack`: builds what has sources, then exactly the files of the revision, as an archive that `svc plugin add` takes and that npm can publish. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createNodeEffects } from '../../../../platform/node/node-effects.js'
import { SvcError } from '../../../../protocol/errors.js'
import { printable } from '../../../../protocol/text/visible-text.js'
import { jsonText, writeError, writeOut } from '../../../terminal/output.js'
import type { PackOptions } from '../plugin-arguments.js'
import { buildSources, sourcesOf } from '../make/build-sources.js'
import { packageRoot } from './package-root.js'
import { openRoom, stage } from '../install/installation-root.js'
import { filesOfDirectory, tarballOf } from '../install/package-content.js'
import { missingParts } from '../install/missing-parts.js'

/** Writes the archive; answers 0. */
export async function packPlugin({ id: named, directory, output, json, force }: PackOptions): Promise<number> {
  const effects = createNodeEffects(process.env['SVC_LOG'] === undefined ? { logLevel: 'error' } : {})
  const root = await packageRoot(named, directory)
  if (!(await buildSources(sourcesOf(root), root))) throw new SvcError('plugin.invalid', 'the build failed; nothing was packed')
  const files = await filesOfDirectory(effects, root)
  const { id, version, revision, bytes, target } = await judged(effects, files)
  const file = resolve(output ?? `${id}${version === '' ? '' : `-${version.replaceAll(/[^\w.+-]/g, '_')}`}.tgz`)
  const archive = tarballOf(files)
  if (existsSync(file) && !force && Buffer.compare(readFileSync(file), archive) !== 0)
    throw new SvcError('resource.conflict', `${file} is there already, with other content; --force writes over it, --output names another`)
  writeFileSync(file, archive)
  for (const warning of missingParts(files, target)) writeError(`svc: ${printable(warning)}\n`)
  const counted = files.length === 1 ? '1 file' : `${files.length} files`
  if (json) writeOut(`${jsonText({ file, id, version, revision, files: files.length, bytes, archiveBytes: archive.length }, 2)}\n`)
  else
    writeOut(
      `packed ${id} ${revision}\nwrote ${file}: ${counted}, ${bytes} bytes, ${archive.length} packed\nadd it with: svc plugin add ${file}\n`,
    )
  return 0
}

/** As the one who adds it will see it. */
async function judged(effects: ReturnType<typeof createNodeEffects>, files: Parameters<typeof stage>[2]) {
  const room = openRoom(effects)
  try {
    const { found, manifest, target, content } = await stage(effects, room, files)
    return { id: found.id, version: manifest.version, revision: content.revision, bytes: content.bytes, target }
  } finally {
    room.close()
  }
}
