import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';

/** The files of swagger-ui-dist that the page needs; no other is served. */
const TYPES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const STYLE = `body { margin: 0 }
.swagger-ui .scheme-container, .swagger-ui .authorization__btn { display: none }
#keys { display: flex; flex-wrap: wrap; gap: 12px 20px; align-items: end; max-width: 1420px; margin: 24px auto 0;
  padding: 16px 20px; box-sizing: border-box; font: 14px/1.5 sans-serif; color: #3b4151; background: #f0f5ff;
  border: 1px solid #b9cdf5; border-radius: 4px }
#keys label { display: block; font-weight: 600 }
#keys input { display: block; width: 24em; max-width: 100%; margin-top: 4px; padding: 8px 10px; font: 13px monospace;
  border: 1px solid #838c9c; border-radius: 4px; box-sizing: border-box }
#keys p { flex-basis: 100%; margin: 0 }`;

const KEYS = `<section id="keys" aria-label="Keys to try requests with">
<p>To try requests, enter the keys that <code>npm start</code> prints. They stay in this page, which signs with them: the
private key is neither sent nor stored.</p>
<label>svc-api-key<input id="api-key" autocomplete="off" spellcheck="false"></label>
<label>private key<input id="private-key" type="password" autocomplete="off" spellcheck="false"></label>
</section>`;

function html(mayTry: boolean, script: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>disburse API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<style>${STYLE}</style>
</head>
<body>
${mayTry ? KEYS : ''}
<div id="page"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script>${script}</script>
</body>
</html>
`;
}

/**
 * The page that displays the document, with the parts it loads; none of them from elsewhere. In the sandbox its requests
 * can be tried; no page requests the key of a production merchant.
 */
@Injectable()
export class DocsPage {
  readonly html: string;
  readonly policy: string;
  private readonly folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

  constructor(@Inject(CONFIG) { mode }: Pick<Config, 'mode'>) {
    const mayTry = mode === 'sandbox';
    const script = docsScript(mayTry);
    this.html = html(mayTry, script);
    this.policy = [
      "default-src 'none'",
      `script-src 'self' 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; ');
  }

  /** One file of the page; null when there is no such file. */
  async file(name: string): Promise<{ readonly type: string; readonly bytes: Buffer } | null> {
    const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
    return type === undefined ? null : { type, bytes: await readFile(join(this.folder, name)) };
  }
}

/** Displays the document; where it may be tried, the page signs requests with the keys of its two fields. */
function docsScript(mayTry: boolean): string {
  return `${mayTry ? SIGNING : ''}
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#page',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  validatorUrl: null,
  ${mayTry ? 'requestInterceptor: signed' : 'supportedSubmitMethods: []'},
});`;
}

/** contract.md 2.2 with WebCrypto. The private key is read from its field, used, and kept nowhere. */
const SIGNING = String.raw`
const text = new TextEncoder();
const given = (id) => document.getElementById(id).value.trim();
if (!isSecureContext)
  document.querySelector('#keys p').textContent =
    'To try requests, open this page over https:// or on the machine itself at 127.0.0.1: elsewhere browsers do not sign.';
async function signed(request) {
  const { origin, pathname } = new URL(request.url, location.href);
  if (origin !== location.origin || !pathname.startsWith('/merchants/v1/')) return request;
  const apiKey = given('api-key');
  const privateKey = given('private-key');
  // Without keys the 401 says which headers are missing.
  if (apiKey === '' || privateKey === '') return request;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const payload = [timestamp, request.method.toUpperCase(), pathname, request.body || ''].join('\n');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', text.encode(privateKey), algorithm, false, ['sign']);
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, text.encode(payload)));
  const signature = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  Object.assign(request.headers, { 'svc-api-key': apiKey, 'svc-timestamp': timestamp, 'svc-signature': signature });
  return request;
}`;
