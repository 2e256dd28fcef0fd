/** Programs that show files, or make text of them. */
import type { Entry } from './facts.js'
import { assigned, both, findUse, firstAndRest, named, NONE, perlUse, sedUse, sourceThenFiles, whether } from './file-use.js'
import { always, awkReason, mlrReason, programOption, sedReason, yqReason } from './reasons.js'

const PATTERN = /^(?:-[a-zA-Z]*[ef]|--regexp|--file)/
const reads = { files: named({}) }

export const READING: readonly Entry[] = [
  ['cat head tail wc ls stat du nl tac realpath md5sum sha1sum sha256sum basename dirname', { operandsAlike: 'all' }],
  ['cat ls realpath readlink md5sum sha1sum sha224sum sha256sum sha384sum sha512sum cksum sum b2sum', reads],
  ['head tail more nl tac rev cut paste fold fmt column comm join expand unexpand pr tsort look strings colrm ul hexyl', reads],
  ['base32 basenc uuencode envsubst exa eza lsd', reads],
  ['xmllint xsltproc pv', { files: named({ writes: '-o --output --writesubtree' }) }],
  ['xsltproc', { explicit: always('a stylesheet may write files') }],
  ['mlr', { files: named({ texts: '--from --ofmt --nr-progress-mod' }), explicit: mlrReason }],
  ['colordiff icdiff zcat bzcat xzcat lzcat zstdcat zgrep zegrep zfgrep bzgrep xzgrep zless zmore xzless zdiff zcmp xzdiff', reads],
  ['delta batcat', { ...reads, explicit: programOption('', '--pager') }],
  ['diff3', { ...reads, explicit: programOption('', '--diff-program') }],
  ['zipinfo wall lp lpr', reads],
  ['troff groff nroff', { ...reads, explicit: programOption('UFlX') }],
  [
    'm4',
    { language: 'interpreter', files: named({ writes: '-F --freeze-state --debugfile -o --error-output', reads: '-R --reload-state' }) },
  ],
  [
    'cpp',
    {
      files: both(firstAndRest, named({ writes: '-o -MF', reads: '-include -imacros -I', texts: '-D -U -x', operands: 'none' })),
      explicit: (args) => (args.some(({ text }) => text.startsWith('@')) ? 'a file holds more of its options' : undefined),
    },
  ],
  ['hexdump hd', { files: named({ reads: '-f --format-file' }) }],
  ['wc stat du cmp od diff', { files: named({ reads: '-X --exclude-from --format-file', lists: '--files0-from' }) }],
  ['man', { ...reads, optionsDecide: true, explicit: programOption('PH', '--pager', '--html') }],
  ['jq', { files: named({ reads: '-f --from-file -L' }) }],
  [
    'yq',
    {
      files: both(
        whether('i', ['--inplace', '--in-place'], named({ operands: 'writes' }), named({})),
        named({ reads: '-f --from-file', operands: 'none' }),
      ),
      explicit: yqReason,
    },
  ],
  [
    'less',
    {
      files: named({ writes: '-o -O --log-file --LOG-FILE' }),
      optionsDecide: true,
    },
  ],
  ['file', { operandsAlike: 'all', files: named({ reads: '-f --files-from', lists: '-f --files-from' }) }],
  ['date', { files: named({ reads: '-f --file -r --reference', operands: 'none' }) }],
  ['logger', { files: named({ reads: '-f --file', operands: 'none' }) }],
  [
    'sort',
    {
      files: named({
        reads: '--random-source',
        writes: '-o --output -T --temporary-directory',
        texts: '-k --key -t --field-separator -S --buffer-size',
        lists: '--files0-from',
      }),
      optionsDecide: true,
      textAfter: /^-[kt]$/,
      explicit: programOption('', '--compress-program'),
    },
  ],
  ['shuf', { files: named({ reads: '--random-source', writes: '-o --output' }) }],
  ['sdiff', { files: named({ writes: '-o --output' }), explicit: programOption('', '--diff-program') }],
  ['tree base64', { files: named({ writes: '-o --output' }), optionsDecide: true }],
  ['iconv', { files: named({ writes: '-o --output' }) }],
  ['uniq', { files: firstAndRest, optionsDecide: true }],
  ['xxd', { files: sourceThenFiles, optionsDecide: true }],
  ['ptx', { files: firstAndRest }],
  [
    'grep egrep fgrep',
    {
      files: named({ reads: '-f --file --exclude-from', texts: '-e --regexp -A -B -C -D -d -m', skips: 1, unless: PATTERN }),
      operandsAlike: 'after-text',
    },
  ],
  [
    'rg',
    {
      files: named({
        reads: '-f --file --ignore-file',
        texts: '-e --regexp -A -B -C -E -g --glob -j -M -m -r --replace -T -t',
        skips: 1,
        unless: PATTERN,
      }),
      optionsDecide: true,
      textAfter: /^-[egtmABC]$/,
      explicit: programOption('', '--pre', '--hostname-bin'),
      operandsAlike: 'after-text',
    },
  ],
  ['ag', { files: named({ reads: '-p --path-to-ignore', skips: 1 }), optionsDecide: true, explicit: programOption('', '--pager') }],
  ['bat', { ...reads, optionsDecide: true, explicit: programOption('', '--pager') }],
  [
    'fd fdfind',
    {
      files: named({
        reads: '--base-directory --search-path --ignore-file',
        texts: '-d --max-depth -t --type -e --extension -E --exclude -S --size -j --threads -c --color -o --owner -g',
        skips: 1,
      }),
      optionsDecide: true,
      explicit: programOption('xX', '--exec', '--exec-batch'),
    },
  ],
  [
    'find',
    {
      files: findUse,
      optionsDecide: true,
      textAfter: /^-(?:i?name|i?path|i?regex|newer|size|[acm]?time|[acm]?min|maxdepth|mindepth|type|perm|user|group)$/,
    },
  ],
  [
    'awk gawk mawk nawk',
    {
      files: named({ reads: '-f --file', texts: '-v --assign -F --field-separator', skips: 1, unless: /^(?:-f|--file)/ }),
      optionsDecide: true,
      explicit: awkReason,
    },
  ],
  ['awk', { textAfter: /^-[vF]$/ }],
  ['sed gsed', { files: sedUse, optionsDecide: true, explicit: sedReason }],
  ['sed', { operandsAlike: 'after-text' }],
  ['perl ruby', { files: perlUse, language: 'interpreter' }],
  ['dd', { files: (args) => ({ ...NONE, reads: assigned(args, 'if='), writes: assigned(args, 'of=') }) }],
]
