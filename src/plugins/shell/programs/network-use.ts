/** Files that programs of the network are given, besides addresses. */
import { plainWord, unknownWord, type Word } from '../words/word.js'
import { cutWord, type Given, hasOption, splitArguments } from './arguments.js'
import { both, type FileUse, isFile, NONE, named, type Use } from './file-use.js'
import { opensslWords } from './reasons.js'

const CHOSEN = unknownWord('(a name chosen by the server)')
const ADDRESSED = unknownWord('(the file of an address)')
/** `-n` in a cluster before any option with a value. */
const USES_NETRC = /^(?:-[^-AbcCdDeEFhHKmoPQrtTuUwxXyYz]*n|--netrc(?:-optional)?$)/
const NETRC: Word = { ...plainWord('~/.netrc'), pattern: '~/.netrc' }
/** Of an address: neither a pattern nor encoded, so that the file is called like this. */
const PLAIN_NAME = /^[\w.+@~,=:-]+$/
const WORDS = (text: string) => text.split(' ')

/** Options of curl whose values may name a file after a sign, and what stands before it. */
const SIGNED: readonly (readonly [names: readonly string[], sign: RegExp])[] = [
  [WORDS('-d --data --data-ascii --data-binary --json -H --header --proxy-header -w --write-out'), /^@/],
  [WORDS('--data-urlencode --variable --url-query'), /^[^@=]*@/],
  [WORDS('-F --form'), /^[^=]*=[@<]/],
]

/** Their values are neither files nor addresses. */
const CURL_TEXTS = '-A --user-agent -C -e --referer -m --max-time -P -Q -r --range -t -u --user -U -x --proxy -X --request -y -Y -z'
const CURL_READS =
  '-T --upload-file -E --cert --key --cacert --capath --crlfile --egd-file --random-file --netrc-file -K --config --proxy-cert --proxy-key --proxy-cacert --proxy-capath --proxy-crlfile --pubkey --etag-compare --unix-socket'
const CURL_WRITES =
  '-o --output --output-dir -c --cookie-jar -D --dump-header --trace --trace-ascii --etag-save --stderr --libcurl --hsts --alt-svc --ssl-sessions'
const CURL_OTHERS = ['--url', '-b', '--cookie', '--proto-default', ...SIGNED.flatMap(([names]) => names)]

const curlFiles = named({ reads: CURL_READS, writes: CURL_WRITES, texts: `${CURL_TEXTS} ${CURL_OTHERS.join(' ')}`, operands: 'none' })

/** A file named after the last part of the address when no name is given. */
function curlAddresses(args: readonly Word[]): FileUse {
  const { options, operands, given } = splitArguments(args, [...CURL_OTHERS, ...WORDS(`${CURL_TEXTS} ${CURL_READS} ${CURL_WRITES}`)])
  const of = (...names: readonly string[]) => given.filter(({ name }) => names.includes(name)).map(({ value }) => value)
  const addresses = [...operands, ...of('--url')]
  const cookies = of('-b', '--cookie').filter((word) => word.dynamic || !word.text.includes('='))
  const reads = [...addresses.flatMap(addressed), ...cookies, ...given.flatMap(signed)]
  if (of('--proto-default').some((word) => !/^https?$/i.test(word.text))) reads.push(ADDRESSED)
  if (options.some((option) => USES_NETRC.test(option))) reads.push(NETRC)
  const remote = hasOption(options, 'O', '--remote-name', '--remote-name-all')
  const chosen =
    hasOption(options, 'JK', '--remote-header-name', '--config') ||
    of('-w', '--write-out').some(({ text }) => text.includes('output{')) ||
    of('-o', '--output').some(({ text }) => /#\d/.test(text))
  return { ...NONE, reads, writes: [...(remote ? addresses.map(downloadName) : []), ...(chosen ? [CHOSEN] : [])] }
}

export const curlUse = withoutStreams(both(curlFiles, curlAddresses))

function withoutStreams(use: Use): Use {
  return (args) => {
    const { reads, writes, ...rest } = use(args)
    return { ...rest, reads: reads.filter(isFile), writes: writes.filter(isFile) }
  }
}

/** The files of a value with a sign, without what says their type. */
function signed({ name, value }: Given): readonly Word[] {
  const sign = SIGNED.find(([names]) => names.includes(name))?.[1]
  if (sign === undefined) return []
  const bare = value.dynamic ? value.text.replace(/^["']+/, '') : value.text
  const before = sign.exec(bare)?.[0]
  if (value.dynamic || value.approximate) return before === undefined && !value.open ? [] : [{ ...value, dynamic: true }]
  if (before === undefined) return []
  const names = bare.slice(before.length).replace(/;[\w-]+=.*$/s, '')
  return (name === '-F' || name === '--form' ? names.split(',') : [names]).map((path) => plainWord(path.replace(/^"(.*)"$/s, '$1')))
}

/** The file that an address of the scheme `file` stands for. */
function addressed(word: Word): readonly Word[] {
  if (!/file:/i.test(word.text)) return []
  if (word.dynamic || word.approximate) return [{ ...word, dynamic: true }]
  const path = /^file:(?:\/\/[^/]*)?(\/[^?#{}[\]]*)$/i.exec(word.text)?.[1]
  try {
    return [path === undefined ? ADDRESSED : plainWord(decodeURIComponent(path))]
  } catch {
    return [ADDRESSED]
  }
}

const WGET_TEXTS = '-e -B -t -T -w -Q -U -l -A -R -D -I -X'

const WGET_CHOOSES =
  '--recursive --mirror --input-file --content-disposition --trust-server-names --backup-converted --execute --config --default-page --page-requisites'

const wgetFiles = named({
  reads:
    '--post-file --body-file --load-cookies --certificate --private-key --ca-certificate --ca-directory --crl-file --random-file --egd-file -i --input-file --config',
  writes:
    '-O --output-document -P --directory-prefix -o --output-file -a --append-output --save-cookies --hsts-file --warc-file --rejected-log',
  texts: WGET_TEXTS,
  operands: 'none',
})

function wgetNames(args: readonly Word[]): FileUse {
  const { options, operands } = splitArguments(args, WORDS(`-O -P -o -a -i ${WGET_TEXTS}`))
  const hasName = hasOption(options, 'O', '--output-document')
  const chosen = hasOption(options, 'rmixKe', ...WORDS(WGET_CHOOSES))
  return { ...NONE, writes: [...(hasName ? [] : operands.map(downloadName)), ...(chosen ? [CHOSEN] : [])] }
}

export const wgetUse = withoutStreams(both(wgetFiles, wgetNames))

function downloadName(address: Word): Word {
  if (address.dynamic) return address
  const path = address.text.replace(/^[a-z]+:\/\/[^/]*/, '').replace(/[?#].*$/s, '')
  const name = path.slice(path.lastIndexOf('/') + 1) || 'index.html'
  return PLAIN_NAME.test(name) ? plainWord(name) : CHOSEN
}

/** `file:PATH` as a source of a password, and options that are whole words. */
export function opensslUse(given: readonly Word[]): FileUse {
  const args = opensslWords(given)
  const files = named({
    reads:
      '-in -inkey -key -cert -certfile -CA -CAkey -CAfile -CApath -CAserial -cafile -config -conf -kfile -rand -recip -signer -sign -verify -prverify -signature -content -extfile -untrusted -crl -queryfile -chain -data -dhparam -oid -spkac -ss_cert -issuer',
    writes: '-out -keyout -writerand -outdir -crlout -certout -sigout -keylogfile -sess_out',
    texts:
      '-passin -passout -pass -hmac -iv -K -k -S -md -subj -days -cipher -connect -servername -name -nameopt -newkey -algorithm -pkeyopt',
    skips: 1,
  })
  const sources = args.filter(({ text }) => /^(?:file|pathname):/.test(text)).map((word) => cutWord(word, word.text.indexOf(':') + 1))
  return both(files, () => ({ ...NONE, reads: sources }))(args)
}
