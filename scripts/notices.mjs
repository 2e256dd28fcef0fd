/** The licences of what is bundled: one text for all, and a failure where one is not known to allow it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** May be passed on within another program, as long as their texts go with it. */
const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'Unlicense',
  'CC0-1.0',
  'BlueOak-1.0.0',
  'Zlib',
])
const TEXTS = /^(?:licen[cs]e|copying|notice)/i
const RULE = '-'.repeat(100)

/** `packages` as `bundledPackages` tells them. */
export function noticesOf(packages) {
  const entries = packages.map(({ folder, manifest }) => {
    const { name, version, license } = manifest
    if (!isAllowed(license))
      throw new Error(`${name} ${version} is bundled, and its licence is not known to allow that: ${String(license)}`)
    const texts = readdirSync(folder)
      .filter((file) => TEXTS.test(file))
      .toSorted()
      .map((file) => readFileSync(join(folder, file), 'utf8').trim())
    // Some say the name of their licence and who holds it, and carry no text.
    const text = texts.length > 0 ? texts.join('\n\n') : `Licence: ${license}. ${authorOf(manifest)}`
    return `${name} ${version} (${license})\n\n${text}`
  })
  return `svc contains the packages below, or parts of them.\n\n${entries.map((entry) => `${RULE}\n${entry}\n`).join('\n')}`
}

/** `MIT OR Apache-2.0` asks for one of them. */
function isAllowed(license) {
  return (
    typeof license === 'string' &&
    license
      .replaceAll(/[()]/g, '')
      .split(/\s+OR\s+/)
      .some((each) => ALLOWED.has(each))
  )
}

function authorOf({ author, repository }) {
  const holder = typeof author === 'string' ? author : author?.name
  const place = typeof repository === 'string' ? repository : repository?.url
  return [holder === undefined ? '' : `Copyright of ${holder}.`, place === undefined ? '' : `From ${place}.`].filter(Boolean).join(' ')
}
