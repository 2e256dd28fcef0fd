/** The options of each program that `known-options.ts` reads. */
export interface KnownOptions {
  /** Letters and names without a value in the next word; a name may carry a text after `=`. */
  readonly flags: ReadonlySet<string>
  /** Whose value is no file. */
  readonly texts: ReadonlySet<string>
  /** Whose value the program's record knows. */
  readonly judged: ReadonlySet<string>
  /** Letters with a text that can only stand in the same word. */
  readonly attached: ReadonlySet<string>
  /** A number is an option, as in `head -5`. */
  readonly numeric: boolean
}

interface Listed {
  readonly programs: string
  /** Letters in one word, then names without `--`; those that begin with a dash have one. */
  readonly flags?: string
  readonly texts?: string
  readonly judged?: string
  readonly attached?: string
  readonly numeric?: true
}

const HELP = 'help version'
const COPYING = 'backup force interactive verbose'

const LISTED: readonly Listed[] = [
  {
    programs: 'sed gsed',
    flags: `nErsuzb quiet silent regexp-extended separate unbuffered null-data posix debug sandbox follow-symlinks binary in-place ${HELP}`,
    texts: 'l line-length',
    judged: 'ef expression file',
    attached: 'iI',
  },
  {
    programs: 'cp',
    flags: `abdfiHlLnPpRrsTuvxZ archive attributes-only copy-contents link dereference no-clobber no-dereference no-target-directory one-file-system
    preserve no-preserve recursive reflink remove-destination sparse strip-trailing-slashes symbolic-link update ${COPYING} ${HELP}`,
    judged: 't target-directory',
  },
  {
    programs: 'mv',
    flags: `bfinTuvZ no-clobber no-target-directory strip-trailing-slashes update ${COPYING} ${HELP}`,
    judged: 't target-directory',
  },
  {
    programs: 'ln',
    flags: `bdFfhiLnPrsTv directory logical no-dereference no-target-directory physical relative symbolic ${COPYING} ${HELP}`,
    judged: 't target-directory',
  },
  {
    programs: 'install',
    flags: `bcCdDpsTvZ compare directory no-target-directory preserve-timestamps strip preserve-context ${COPYING} ${HELP}`,
    texts: 'gmo group mode owner',
    judged: 't target-directory',
  },
  {
    programs: 'patch',
    flags: `bcEeflnNRstuvTZ batch binary backup backup-if-mismatch no-backup-if-mismatch context dry-run ed force forward ignore-whitespace merge
    normal remove-empty-files reverse quiet silent set-time set-utc unified verbose posix ${HELP}`,
    texts: 'pFD strip fuzz ifdef quoting-style reject-format read-only',
    judged: 'iord input output reject-file directory',
  },
  {
    programs: 'split',
    flags: `dxeu elide-empty-files verbose unbuffered numeric-suffixes hex-suffixes ${HELP}`,
    texts: 'abClnt suffix-length bytes line-bytes lines number separator',
    judged: '_ filter',
    numeric: true,
  },
  {
    programs: 'csplit',
    flags: `kqsz keep-files quiet silent elide-empty-files suppress-matched ${HELP}`,
    texts: 'n digits',
    judged: 'f prefix',
  },
  {
    programs: 'gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 brotli',
    flags: `cdfhklLnNqtvVzeQ0123456789 stdout to-stdout compress decompress uncompress force keep list no-name name quiet test verbose fast best
    rsyncable synchronous small extreme no-warn no-sparse single-stream ultra long rm progress no-progress no-check check adapt ${HELP}`,
    texts: 'TMFC threads memlimit memory format quality level',
    judged: 'o output',
    numeric: true,
  },
  {
    programs: 'zip',
    flags: `0123456789rqvjmufdDeoyXgAJkSVw@ recurse-paths junk-paths quiet verbose update freshen delete move encrypt symlinks no-extra exclude
    include ${HELP}`,
    texts: 'PnstxiZ password suffixes split-size from-date compression-method',
    judged: 'T test unzip-command',
  },
  {
    programs: 'tar gtar bsdtar',
    flags: `AcdrtuxzjJZapskmOvwWhlSUGnBiRo create extract get list append update diff compare catenate concatenate delete gzip gunzip ungzip bzip2
    xz zstd lzma lzip lzop auto-compress no-auto-compress verbose exclude-vcs exclude-vcs-ignores exclude-backups exclude-caches null no-null
    no-recursion recursion keep-old-files skip-old-files keep-newer-files overwrite overwrite-dir no-overwrite-dir unlink-first
    recursive-unlink to-stdout preserve-permissions same-permissions no-same-permissions preserve-order same-order same-owner no-same-owner
    numeric-owner dereference hard-dereference one-file-system sparse wildcards no-wildcards wildcards-match-slash no-wildcards-match-slash
    anchored no-anchored ignore-case no-ignore-case totals checkpoint touch xattrs no-xattrs acls no-acls selinux no-selinux incremental
    one-top-level full-time utc show-transformed-names show-omitted-dirs warning ignore-failed-read ignore-zeros remove-files verify
    check-device no-check-device posix old-archive portability force-local interactive confirmation clamp-mtime no-seek seek
    absolute-names ${HELP}`,
    texts: `bNKHLV exclude strip-components strip owner group mode mtime sort format newer newer-mtime after-date label blocking-factor
    record-size transform xform pax-option occurrence level starting-file owner-map group-map`,
    judged: `CfTXgIFP directory file files-from exclude-from add-file listed-incremental index-file volno-file to-command checkpoint-action
    use-compress-program rsh-command rmt-command info-script new-volume-script`,
  },
  {
    programs: 'rsync',
    flags: `avrlptgoDzPhnucSiqWHAXdkKLxmEJOUyC048 archive verbose recursive links perms times group owner devices specials compress progress partial
    dry-run update checksum delete delete-after delete-before delete-during delete-delay del delete-excluded delete-missing-args
    ignore-missing-args stats human-readable itemize-changes ignore-existing existing ignore-non-existing size-only inplace whole-file
    no-whole-file append append-verify sparse hard-links acls xattrs executability no-perms no-owner no-group no-times no-o no-g no-p no-links
    copy-links copy-unsafe-links safe-links munge-links keep-dirlinks copy-dirlinks dirs no-dirs prune-empty-dirs ignore-errors force quiet
    list-only cvs-exclude omit-dir-times omit-link-times numeric-ids one-file-system remove-source-files mkpath ignore-times preallocate
    fuzzy delay-updates from0 super fake-super no-motd no-implied-dirs no-compress no-recursive no-inc-recursive inc-recursive atimes crtimes
    ipv4 ipv6 blocking-io 8-bit-output ${HELP}`,
    texts: `B exclude include max-size min-size chmod chown usermap groupmap timeout contimeout bwlimit info debug modify-window
    compress-level compress-choice checksum-choice checksum-seed skip-compress out-format port address max-delete block-size iconv protocol
    stop-after stop-at`,
    judged: `efT filter password-file exclude-from include-from read-batch files-from log-file write-batch only-write-batch backup-dir partial-dir
    temp-dir rsh rsync-path`,
  },
  {
    programs: 'scp',
    flags: '346ABCOpqRrTv',
    texts: 'cJlPX',
    judged: 'iSoFD',
  },
  {
    programs: 'ssh-keygen',
    flags: 'ABceghHilLpQqUuvXy',
    texts: 'abCFInNPRtVWYzZ',
    judged: 'fsrDw',
  },
  {
    programs: 'less',
    flags: `aABcCdeEfFgGiIJKLmMnNqQrRsSuUVwWX~ quit-at-eof QUIT-AT-EOF quit-if-one-screen force ignore-case IGNORE-CASE line-numbers LINE-NUMBERS
    raw-control-chars RAW-CONTROL-CHARS squeeze-blank-lines chop-long-lines no-init quit-on-intr long-prompt LONG-PROMPT silent quiet
    status-column ${HELP}`,
    texts: 'bDhjpPxyz# buffers color max-back-scroll jump-target pattern prompt tabs max-forw-scroll window shift',
    judged: 'oO log-file LOG-FILE',
  },
  {
    programs: 'man',
    flags: `adDfiIkKlwWu7Z all debug default whatis apropos local-file global-apropos where path location where-cat location-cat ascii regex
    wildcard names-only no-subpages no-hyphenation no-justification catman update match-case ignore-case ${HELP}`,
    texts: 'EeLMmRrSsTp encoding extension locale manpath systems recode prompt sections preprocessor troff-device',
    judged: 'PH pager html',
    numeric: true,
  },
  {
    programs: 'troff groff nroff',
    flags: 'abcCeEghijkNpRsStUvVzZ',
    texts: 'dDfKmnorTwW',
    attached: 'IM',
  },
  {
    programs: 'cpp',
    flags: `PECHwv -undef -ansi -pedantic -traditional -traditional-cpp -nostdinc -M -MM -MP -MG -dM -dD -dN -dI -fpreprocessed -fdirectives-only
    -Wall -Wextra -Werror -Wundef -std`,
    texts: 'DUx',
    judged: 'Io -include -imacros -MF',
  },
  {
    programs: 'rg',
    flags: `0acFHhIiLlNnopPqsSUuvVwxz. text byte-offset case-sensitive count count-matches crlf debug fixed-strings follow glob-case-insensitive heading
    no-heading hidden ignore-case invert-match json line-buffered line-number no-line-number line-regexp max-columns-preview mmap no-mmap
    multiline multiline-dotall no-config no-filename no-ignore no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global
    no-ignore-messages no-ignore-parent no-ignore-vcs no-messages no-require-git null null-data one-file-system only-matching passthru pcre2
    pcre2-version pretty quiet search-zip smart-case sort-files stats stop-on-nonmatch trim no-trim type-list unrestricted vimgrep
    with-filename word-regexp column no-column files files-with-matches files-without-match block-buffered include-zero binary no-hidden
    no-follow no-unicode ${HELP}`,
    texts: `ABCEegjMmrTtd after-context before-context context color colors context-separator dfa-size-limit encoding engine field-context-separator
    field-match-separator glob iglob max-columns max-count max-depth max-filesize path-separator regex-size-limit regexp replace sort sortr
    threads type type-add type-clear type-not hyperlink-format generate`,
    judged: 'f file ignore-file pre pre-glob hostname-bin',
  },
  {
    programs: 'gpg gpg2',
    flags: `abcdeEfkKnqsvy armor detach-sign detach-sig sign clear-sign clearsign encrypt symmetric decrypt verify list-keys list-public-keys
    list-secret-keys list-signatures list-sigs check-signatures fingerprint dry-run quiet verbose yes no batch no-tty multifile list-packets
    with-colons with-fingerprint textmode no-armor trust-model with-keygrip keyid-format import-options ${HELP}`,
    texts:
      'ru recipient local-user default-key hidden-recipient cipher-algo digest-algo compress-algo passphrase passphrase-fd pinentry-mode status-fd',
    judged:
      'o output log-file logger-file status-file attribute-file keyring trustdb-name passphrase-file agent-program dirmngr-program gpg-program',
  },
  {
    programs: 'curl',
    flags: `fsSLIivkgGNnOJRpaBljVhZq#012346 fail fail-with-body silent show-error location location-trusted head include verbose insecure globoff get
    no-buffer netrc netrc-optional remote-name remote-name-all remote-header-name remote-time progress-bar no-progress-meter compressed
    compressed-ssh http0.9 http1.0 http1.1 http2 http2-prior-knowledge http3 http3-only tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 ipv4 ipv6 next
    parallel parallel-immediate create-dirs tcp-nodelay tcp-fastopen no-keepalive no-alpn no-npn no-sessionid path-as-is raw
    retry-all-errors retry-connrefused ssl ssl-reqd ssl-no-revoke anyauth basic digest ntlm negotiate proxy-anyauth proxy-basic proxy-digest
    proxy-insecure append list-only junk-session-cookies disable styled-output no-styled-output tr-encoding clobber no-clobber
    remove-on-error post301 post302 post303 proxytunnel disable-epsv disable-eprt ftp-pasv ftp-create-dirs trace-time trace-ids
    suppress-connect-headers haproxy-protocol http-ignore-content-length ca-native false-start ${HELP}`,
    texts: `AemPQrtuUxXyYzC user-agent referer max-time range user proxy-user proxy request speed-time speed-limit time-cond
    continue-at connect-timeout retry retry-delay retry-max-time limit-rate max-redirs max-filesize resolve connect-to interface local-port
    ciphers tls13-ciphers tls-max noproxy oauth2-bearer aws-sigv4 request-target rate parallel-max keepalive-time proto proto-redir
    form-string data-raw key-type cert-type pass socks5 socks5-hostname socks4 socks4a preproxy dns-servers ftp-port quote telnet-option
    create-file-mode mail-from mail-rcpt expect100-timeout happy-eyeballs-timeout-ms curves`,
    judged: `ToKcDdHFbEw url cookie proto-default data data-ascii data-binary data-urlencode json header proxy-header write-out variable
    url-query form upload-file cert key cacert capath crlfile egd-file random-file netrc-file config proxy-cert proxy-key proxy-cacert
    proxy-capath proxy-crlfile pubkey etag-compare unix-socket output output-dir cookie-jar dump-header trace trace-ascii etag-save
    stderr libcurl hsts alt-svc ssl-sessions`,
  },
  {
    programs: 'wget',
    flags: `bcdEFHhKkLmNnpqrSvVx46 background continue debug adjust-extension convert-links backup-converted recursive mirror timestamping
    no-verbose quiet server-response spider page-requisites no-parent no-clobber no-check-certificate no-dns-cache no-proxy no-cache
    no-cookies no-http-keep-alive no-hsts no-config no-directories no-host-directories force-directories force-html span-hosts relative
    https-only content-disposition trust-server-names show-progress no-use-server-timestamps inet4-only inet6-only retry-connrefused
    keep-session-cookies protocol-directories random-wait unlink passive-ftp no-passive-ftp no-glob ignore-length delete-after
    ignore-case ascii ${HELP}`,
    texts: `tTwQUlARDIXB tries timeout dns-timeout connect-timeout read-timeout wait waitretry limit-rate quota user-agent header referer
    user password http-user http-password ftp-user ftp-password post-data body-data method level accept reject accept-regex reject-regex
    domains exclude-domains include-directories exclude-directories cut-dirs progress max-redirect retry-on-http-error secure-protocol
    bind-address prefer-family compression base report-speed restrict-file-names`,
    judged: `OPoaie output-document directory-prefix output-file append-output input-file post-file body-file load-cookies save-cookies
    certificate private-key ca-certificate ca-directory crl-file random-file egd-file config hsts-file warc-file rejected-log execute
    use-askpass`,
  },
]

const names = (text: string) => text.split(/\s+/).filter((name) => name !== '')

/** The first word holds the letters; `_` stands for none. */
function spelled(text = '_'): ReadonlySet<string> {
  const [letters = '', ...rest] = names(text)
  return new Set([
    ...Array.from(letters === '_' ? '' : letters, (letter) => `-${letter}`),
    ...rest.map((name) => (name.startsWith('-') ? name : `--${name}`)),
  ])
}

export const OPTIONS: ReadonlyMap<string, KnownOptions> = new Map(
  LISTED.flatMap(({ programs, flags, texts, judged, attached, numeric = false }) => {
    const known = { flags: spelled(flags), texts: spelled(texts), judged: spelled(judged), attached: spelled(attached), numeric }
    return names(programs).map((program): [string, KnownOptions] => [program, known])
  }),
)
