import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A site of another origin than the service's, with one page. */
export interface OtherSite {
  readonly origin: string;
  close(): void;
}

/** `html` gets the site's origin. A browser takes `localhost` for another site than `127.0.0.1`. */
export async function serveSite(html: (origin: string) => string): Promise<OtherSite> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(html(origin()));
  });
  const origin = (): string => `http://localhost:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: origin(), close: () => server.close() };
}

/** A shop that shows `address` in a frame, and writes down every message that it gets. */
export function shopHtml(address: string, allow = 'camera; microphone'): string {
  return `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>Shop</title><link rel="icon" href="data:,">
<script>heard = []; addEventListener('message', ({ origin, data }) => heard.push({ origin, data }));</script>
<body style="margin:0"><iframe src="${address.replaceAll('&', '&amp;')}" allow="${allow}" style="border:0;width:100%;height:100vh"></iframe></html>`;
}
