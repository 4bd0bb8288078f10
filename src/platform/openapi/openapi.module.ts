import { readFile } from 'node:fs/promises';
import { Controller, Get, Inject, Module, Param, Res, type DynamicModule } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import { CONFIG, type Config } from '../config/config.js';
import { DocsPage } from './docs-page.js';
import { ApiRoute } from './route.js';

/** Serves the document that the build created for the mode of this process; a test may bring its own. */
@Module({})
export class OpenApiModule {
  static of(document?: () => Promise<object>): DynamicModule {
    const load = ({ mode }: Config) => document ?? (() => builtDocument(mode));
    return {
      module: OpenApiModule,
      controllers: [OpenApiController],
      providers: [DocsPage, { provide: OPENAPI_DOCUMENT, inject: [CONFIG], useFactory: load }],
    };
  }
}

/** Nest injection token of what reads the document. */
const OPENAPI_DOCUMENT = Symbol('OPENAPI_DOCUMENT');

/** Where `scripts/openapi.mjs` writes, seen from the built file, and from its source. */
const PLACES = ['../../../openapi', '../../../dist/openapi'];

/** The document that the build created from the decorators. Throws when there is none. */
export async function builtDocument(mode: Config['mode']): Promise<object> {
  for (const place of PLACES) {
    const text = await readFile(new URL(`${place}/${mode}.json`, import.meta.url), 'utf8').catch(() => null);
    if (text !== null) return JSON.parse(text) as object;
  }
  throw new Error('dist/openapi is missing: npm run build makes it');
}

/** `/openapi.json`, and `/docs` to read it; everything comes from this server. */
@Controller()
class OpenApiController {
  private text: Promise<string> | null = null;

  constructor(
    @Inject(OPENAPI_DOCUMENT) private readonly load: () => Promise<object>,
    @Inject(CONFIG) private readonly config: Pick<Config, 'publicUrl'>,
    private readonly page: DocsPage,
  ) {}

  @Get('openapi.json')
  @ApiRoute({
    id: 'openapi',
    tag: 'Documentation',
    summary: 'This document',
    responses: { 200: [Object, 'An OpenAPI 3.1 document.'] },
  })
  async document(@Res() reply: FastifyReply): Promise<void> {
    const text = await (this.text ??= this.withServer());
    reply.header('content-type', 'application/json; charset=utf-8').send(text);
  }

  @Get('docs')
  index(@Res() reply: FastifyReply): void {
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', this.page.policy)
      .send(this.page.html);
  }

  @Get('docs/:file')
  async file(@Param('file') name: string, @Res() reply: FastifyReply): Promise<void> {
    const file = await this.page.file(name);
    if (file === null) throw DomainError.notFound('File');
    reply.header('content-type', file.type).header('cache-control', 'public, max-age=86400').send(file.bytes);
  }

  /** The address of the service is known here, not where it was built. */
  private async withServer(): Promise<string> {
    const url = this.config.publicUrl ?? '/';
    const document = (await this.load()) as { readonly info: object };
    return JSON.stringify({
      ...document,
      info: { ...document.info, description: signingGuide(url) },
      servers: [{ url }],
    });
  }
}

/** Where the sandbox listens by default. */
const SANDBOX_URL = 'http://127.0.0.1:3000';

/** What a reader of the document must know before the first call; its commands run unchanged, with the reader's keys. */
function signingGuide(serverUrl: string): string {
  return GUIDE.replace('SERVER', () => (serverUrl === '/' ? SANDBOX_URL : serverUrl));
}

const GUIDE = `
Users, USDC payouts and webhooks of a merchant, and an exchange. Bodies are JSON, errors are problem documents.

### Signing

Every call under \`/merchants/v1\` carries \`svc-api-key\`, \`svc-timestamp\` and \`svc-signature\`. The signature is the
lower-case hex HMAC-SHA256, under the UTF-8 bytes of the private key, of four parts joined by a line feed:

1. the timestamp, as in the header
2. the HTTP method in upper case
3. the path exactly as sent, without the query string
4. the raw body, empty when there is none

\`\`\`bash
BASE_URL='SERVER'
API_KEY='<svc-api-key>'
PRIVATE_KEY='<private key>'

timestamp=$(date +%s)
body='{"phone_number":"+14155550100"}'
signature=$(printf '%s\\nPOST\\n/merchants/v1/users\\n%s' "$timestamp" "$body" |
  openssl dgst -sha256 -hmac "$PRIVATE_KEY" -hex | sed 's/.* //')
key=$(openssl rand -hex 16 | sed 's/./&-/20;s/./&-/16;s/./&-/12;s/./&-/8')
curl "$BASE_URL/merchants/v1/users" -d "$body" -H 'content-type: application/json' \\
  -H "svc-api-key: $API_KEY" -H "svc-timestamp: $timestamp" -H "svc-signature: $signature" \\
  -H "Idempotency-Key: \\"$key\\""
\`\`\`

A 401 for a wrong signature carries \`string_to_sign_bytes\`, the bytes the server signed: compare them with yours. With
\`Accept: text/plain\` they come as hex.

### Idempotency

Send an \`Idempotency-Key\`, a quoted uuid, with every POST, PATCH and DELETE. Requests repeated with the same
key are executed only once: a repeat gets the first response again, byte for byte, with \`Idempotent-Replayed: true\`, and
409 while the original is in progress. Responses are kept for 30 days, except 401, 403, 404, 409, 413, 429 and 5xx: repeat
those with the same key once the cause is gone. After 30 days the key counts as new. A secret is never shown a second time.

### Limits

Requests are counted per merchant and minute; \`RateLimit-Policy\` and \`RateLimit\` report what is left. After a 429, wait
for \`Retry-After\` seconds, and back off exponentially.

### Exchange

Calls under \`/v1\` have no body: all inputs are in the query, including the key as \`api_key\`. If the key requires signatures,
\`signature\` is the lower-case hex HMAC-SHA256, under the UTF-8 bytes of the key's secret, of \`withdraw_address=\` followed by
the payout address before percent-encoding; for an action on an order, the address of that order. The list of orders takes
its key in \`X-Api-Key\` and is always signed, in \`X-Signature\`, over an empty address, even when it filters by one.

\`\`\`bash
EXCHANGE_KEY='<api_key>'
EXCHANGE_SECRET='<secret>'
address='4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'

sign() { printf 'withdraw_address=%s' "$1" | openssl dgst -sha256 -hmac "$EXCHANGE_SECRET" -hex | sed 's/.* //'; }
curl -X POST "$BASE_URL/v1/orders?api_key=$EXCHANGE_KEY&pair_id=USDCSOL&withdraw_address=$address&signature=$(sign "$address")"
today=$(date -u +%F)
curl "$BASE_URL/v1/merchant/orders?start_date=$today&end_date=$today" \\
  -H "X-Api-Key: $EXCHANGE_KEY" -H "X-Signature: $(sign '')"
\`\`\`
`.trim();
