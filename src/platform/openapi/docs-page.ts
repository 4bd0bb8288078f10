import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Injectable } from '@nestjs/common';

/** The files of swagger-ui-dist that the page needs; no other is served. */
const TYPES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#page',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  supportedSubmitMethods: [],
  validatorUrl: null,
});`;

const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>disburse merchant API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<style>body { margin: 0 } .swagger-ui .scheme-container { display: none }</style>
</head>
<body>
<div id="page"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script>${START}</script>
</body>
</html>
`;

/** The page that shows the document, with the parts it loads; none of them from elsewhere. */
@Injectable()
export class DocsPage {
  readonly html = HTML;
  readonly policy = [
    "default-src 'none'",
    `script-src 'self' 'sha256-${createHash('sha256').update(START).digest('base64')}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

  private readonly folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  private readonly read = new Map<string, Promise<Buffer>>();

  /** One file of the page; null when there is no such file. */
  async file(name: string): Promise<{ readonly type: string; readonly bytes: Buffer } | null> {
    const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
    if (type === undefined) return null;
    let bytes = this.read.get(name);
    if (bytes === undefined) {
      bytes = readFile(join(this.folder, name));
      this.read.set(name, bytes);
    }
    return { type, bytes: await bytes };
  }
}
