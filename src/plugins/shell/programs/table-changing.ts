/** Programs that write, move, link, remove, pack or unpack files. */
import type { Word } from '../words/word.js'
import { plainWord } from '../words/word.js'
import { hasOption, splitArguments } from './arguments.js'
import { arUse, cpioUse, paxUse, sevenZipUse } from './archives.js'
import type { Entry, ProgramFacts } from './facts.js'
import { both, copies, firstAndRest, linkUse, named, orHere, NONE, packUse, patchUse, tarUse, type Use, whether } from './file-use.js'
import { arReason, cpioReason, programOption, rsyncReason, sevenZipReason, tarReason } from './reasons.js'

const moves: Use = (args) => {
  const use = copies('wholes')(args)
  return { ...use, reads: use.sources }
}
/** What ends with a slash goes there as its content; what is not among it may be removed. */
const rsyncCopies: Use = (args) => {
  const use = copies('reads', [])(args)
  const removes = splitArguments(args).options.some((option) => /^--(?:del|rem)/.test(option))
  return { ...use, contents: 'slashed', wholes: removes && use.target !== undefined ? [use.target] : [] }
}
const unpacks = (args: readonly Word[]) => packUse(args, hasOption(splitArguments(args).options, 'd', '--decompress', '--uncompress'))
const modes: ProgramFacts = { files: named({ reads: '--reference', operands: 'wholes', skips: 1, unless: /^(?:--ref|-[rwxXstugo,]+$)/ }) }

export const CHANGING: readonly Entry[] = [
  ['tee sponge mkfifo mknod dos2unix unix2dos', { files: named({ operands: 'writes' }) }],
  ['mkdir', { files: named({ texts: '-m --mode', operands: 'writes' }) }],
  ['touch', { files: named({ reads: '-r --reference', texts: '-d --date -t', operands: 'writes' }), operandsAlike: 'all' }],
  ['truncate', { files: named({ reads: '-r --reference', texts: '-s --size', operands: 'writes' }) }],
  ['rm rmdir unlink shred srm chattr', { files: named({ operands: 'wholes' }) }],
  ['rm', { operandsAlike: 'all' }],
  ['chmod chown chgrp', modes],
  ['cp', { files: whether('ls', ['--link', '--symbolic-link'], linkUse, copies('reads')), brings: 'trees' }],
  ['mv', { files: moves, brings: 'trees' }],
  ['ln', { files: linkUse, brings: 'trees' }],
  ['install', { files: whether('d', ['--directory'], named({ operands: 'writes' }), copies('reads')) }],
  [
    'rsync',
    {
      files: both(
        rsyncCopies,
        named({
          reads: '--password-file --exclude-from --include-from --read-batch',
          lists: '--files-from',
          operands: 'none',
          writes: '--log-file --write-batch --only-write-batch --backup-dir --partial-dir -T --temp-dir',
        }),
      ),
      optionsDecide: true,
      explicit: rsyncReason,
      brings: 'unknown',
    },
  ],
  [
    'split',
    {
      files: (args) => {
        const { operands } = splitArguments(args, ['-a', '-b', '-C', '-l', '-n', '-t', '--bytes', '--lines', '--number', '--suffix-length'])
        return { ...NONE, reads: operands.slice(0, 1), writes: [operands[1] ?? plainWord('x')] }
      },
      optionsDecide: true,
      explicit: programOption('', '--filter'),
    },
  ],
  [
    'csplit',
    {
      files: (args) => {
        const { operands, values } = splitArguments(args, ['-f', '--prefix'])
        return { ...NONE, reads: operands.slice(0, 1), writes: values.length > 0 ? values : [plainWord('xx')] }
      },
    },
  ],
  ['patch', { files: patchUse }],
  ['tar gtar bsdtar', { files: tarUse, optionsDecide: true, explicit: tarReason, brings: 'unknown' }],
  [
    'unzip',
    {
      files: (args) => {
        const { operands, values } = splitArguments(args, ['-d'])
        return { ...NONE, reads: operands.slice(0, 1), writes: orHere(values) }
      },
      brings: 'unknown',
    },
  ],
  [
    'zip',
    {
      files: (args) => ({ ...NONE, reads: firstAndRest(args).writes, writes: firstAndRest(args).reads }),
      optionsDecide: true,
      explicit: programOption('T', '--unzip-command', '--test'),
    },
  ],
  ['7z 7za 7zr', { files: sevenZipUse, brings: 'unknown', explicit: sevenZipReason }],
  ['ar', { files: arUse, brings: 'unknown', explicit: arReason }],
  ['cpio', { files: cpioUse, brings: 'unknown', explicit: cpioReason }],
  ['pax', { files: paxUse, brings: 'unknown' }],
  ['gzip bzip2 xz lzma zstd lz4 brotli', { files: unpacks }],
  ['gunzip bunzip2 unxz unlzma unzstd', { files: (args) => packUse(args, true) }],
]
