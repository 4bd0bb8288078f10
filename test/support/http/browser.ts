import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { systemProgram } from '../programs/system-program.js';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Path of a Chromium: that of CHROMIUM, or Debian's; null where there is none and it cannot be had. */
export function findChromium(): string | null {
  return process.env['CHROMIUM'] ?? systemProgram('chromium');
}

/** A page with what went wrong on it: console errors, exceptions, refusals of its policy, requests to elsewhere. */
export interface WatchedPage {
  readonly page: Page;
  /** Empty on a page that behaves. Refused step calls (4xx) are no problem. */
  readonly problems: string[];
}

export class TestBrowser {
  private constructor(private readonly browser: Browser) {}

  static async start(executablePath: string, args: readonly string[] = []): Promise<TestBrowser> {
    return new TestBrowser(
      await chromium.launch({ executablePath, headless: true, args: [...ARGS, ...args] }),
    );
  }

  /** A page of a new visitor, who may send requests to `origins` alone. */
  async visit(origins: readonly string[], options: BrowserContextOptions = {}): Promise<WatchedPage> {
    const context = await this.browser.newContext({
      locale: 'en-US',
      viewport: { width: 1000, height: 820 },
      ...options,
    });
    context.setDefaultTimeout(15_000);
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => {
      const refusedStep = /the server responded with a status of 4/.test(message.text());
      if (['error', 'warning'].includes(message.type()) && !refusedStep) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== 'data:' && !origins.includes(origin)) problems.push(`requests ${request.url()}`);
    });
    return { page, problems };
  }

  async close(): Promise<void> {
    await this.browser.close();
  }
}

/** Keeps a picture of the page as `<SCREENSHOTS>/<name>.png`; does nothing when SCREENSHOTS names no folder. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
