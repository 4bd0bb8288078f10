import { isProgram, isTest, type Source } from './sources.js';

/** A comment or docstring that begins without a subject or a verb. */
const FRAGMENT =
  /^\s*(?:\/\*\*|\/\/)\s+(?:Of|By|As|At|In|On|For|From|To|With|Without|Within|Between|Until|After|Before|Under|Over|What|Who|Whose|Which|Whether|How|Why|Where|When|Null|Absent|Empty|Its|Those|Also)\b/gm;
const COMMENT = /^[ \t]*\/\*\*[^]*?\*\/|(?:^[ \t]*\/\/.*\n)+/gm;
const MAX_WORDS = 22;

const PARTICIPLE =
  /^export (?:abstract )?(?:interface|type|class) (?:Displayed|Listed|Known|Found|Given|Requested|Claimed|Decided|Established|Issued|Served|Stored|Logged|Checked|Confirmed|Changed|Written|Received|Rendered|Named|Proven|Settled|Loaded|Executed|Forgotten|Audited|Booked|Derived|Granted|Recorded|Rechecked|Resolved|Seen|Shown|Signed|Told|Used|Verified)[A-Z]\w*/gm;
const POSSESSIVE = /(?:^|\s)(?:function |const |private |readonly |async )\s*([a-z]\w*Of)\b\s*(?:\(|=|<)/gm;

/** Fields that the program has in every layer, each by its names in events and in code. */
const FIELDS = [
  ...['memo_signing|memoSigning', 'requests_per_minute|requestsPerMinute'],
  ...['withdraw_addresses|withdrawAddresses', 'demands_signing|demandsSigning|demandsSignature'],
  ...['display_name|displayName', 'event_types|eventTypes', 'issuer_wallet_address|issuerWalletAddress'],
  ...['custom_metadata|customMetadata', 'signing_secret|signingSecret', 'external_id|externalId'],
].map((names) => new RegExp(`\\b(?:${names})\\b`));

/** The figures of names and comments, and how widely a field or a context is spread. */
export function readability(files: readonly Source[]): Record<string, number> {
  const program = files.filter(({ path }) => isProgram(path));
  const product = files.filter(
    ({ path }) => /^(src|sandbox|widgets|packages)\/.*\.(tsx?|mjs)$/.test(path) && !isTest(path),
  );
  const naming = FIELDS.map((field) => program.filter(({ text }) => field.test(text)).length);
  const contexts = new Map<string, number>();
  for (const { path } of program) {
    const name = /^src\/contexts\/([^/]+)\//.exec(path)?.[1];
    if (name !== undefined) contexts.set(name, (contexts.get(name) ?? 0) + 1);
  }
  return {
    'comments that begin like a fragment': count(product, FRAGMENT),
    'sentences of comments above 22 words': product.reduce((sum, { text }) => sum + longSentences(text), 0),
    'types named by a participle': count(program, PARTICIPLE),
    'functions named by a possessive': count(program, POSSESSIVE),
    'files of src that name a field': Math.round(naming.reduce((a, b) => a + b, 0) / FIELDS.length),
    'files of the largest context': Math.max(0, ...contexts.values()),
  };
}

const longSentences = (text: string): number =>
  (text.match(COMMENT) ?? [])
    .map((comment) => comment.replaceAll(/^\s*(?:\/\*\*|\*\/|\*|\/\/)|\*\/$/gm, '').replaceAll('{@link ', ''))
    .flatMap((comment) => comment.split(/(?<=[.!?])\s+|\s@\w+|\s- /))
    .filter((sentence) => sentence.trim().split(/\s+/).length > MAX_WORDS).length;

const count = (files: readonly Source[], pattern: RegExp): number =>
  files.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0);
