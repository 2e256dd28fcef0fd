/** A tar archive that is the same bytes wherever it is made: no times, no owners, two modes, files in the order they are given. Pure. */
import { paddedTo, TAR_BLOCK, tarHeaders } from '../../../../protocol/text/tar-header.js'
import type { ArchivedFile } from './tar-read.js'

/** Archives end with two empty blocks, and are filled up to a record of twenty. */
const RECORD = 20 * TAR_BLOCK

export function writeTar(files: readonly ArchivedFile[]): Uint8Array {
  const blocks = files.flatMap(({ path, executable, content }) => [
    ...tarHeaders(path, executable ? 0o755 : 0o644, content.length),
    padded(content),
  ])
  const length = blocks.reduce((sum, block) => sum + block.length, 0)
  const archive = new Uint8Array(Math.ceil((length + 2 * TAR_BLOCK) / RECORD) * RECORD)
  let at = 0
  for (const block of blocks) {
    archive.set(block, at)
    at += block.length
  }
  return archive
}

function padded(content: Uint8Array): Uint8Array {
  const block = new Uint8Array(paddedTo(content.length))
  block.set(content)
  return block
}
