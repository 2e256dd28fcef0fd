/**
 * The SQLite driver that fits this Node; both read and write the same files. From Node 22 on it is the release that
 * carries its binaries. That one ends Node 20 with a segmentation fault, so the version is looked at before it is loaded.
 */
import { SvcError } from '../protocol/errors.js'

const FIRST_WITH_BINARIES = 22

export const Database = await load().catch((cause: unknown) => {
  const message = `The SQLite driver for Node ${process.versions.node} is not installed. Run "npm ci" with this Node where svc is installed.`
  throw new SvcError('store.unavailable', message, {}, { cause })
})

async function load() {
  const hasBinaries = Number.parseInt(process.versions.node, 10) >= FIRST_WITH_BINARIES
  const { default: driver } = hasBinaries ? await import('better-sqlite3-prebuilt') : await import('better-sqlite3')
  return driver
}
