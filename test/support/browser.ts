import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { runFolder } from './run-folder.js';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const INSTALL = 'apt-get update -qq; apt-get install -y -qq --no-install-recommends chromium';
const INSTALL_MS = 300_000;

/**
 * Path of a Chromium: that of CHROMIUM, or Debian's, which is installed when it is missing and this is root. Null when
 * there is none and it cannot be had; says so, and whoever asked leaves its suite out.
 */
export function findChromium(): string | null {
  const found = process.env['CHROMIUM'] ?? installed() ?? install();
  if (found === null) console.warn('chromium is not installed and cannot be: the suite is left out');
  return found;
}

function installed(): string | null {
  const found = spawnSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' });
  return found.status === 0 ? found.stdout.trim() : null;
}

function install(): string | null {
  if (process.getuid?.() !== 0 || spawnSync('sh', ['-c', 'command -v apt-get']).status !== 0) return null;
  // Suites of several workers may find it missing at once.
  const script = `command -v chromium || { ${INSTALL}; }`;
  spawnSync('flock', [join(runFolder(), 'chromium.lock'), 'sh', '-c', script], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: INSTALL_MS,
  });
  return installed();
}

/** A page with what went wrong on it: console errors, exceptions, refusals of its policy, requests to elsewhere. */
export interface WatchedPage {
  readonly page: Page;
  /** Empty on a page that behaves. Refused step calls (4xx) are no problem. */
  readonly problems: string[];
}

export class TestBrowser {
  private constructor(private readonly browser: Browser) {}

  static async start(executablePath: string): Promise<TestBrowser> {
    return new TestBrowser(await chromium.launch({ executablePath, headless: true, args: ARGS }));
  }

  /** A page of a new visitor, who may ask `origins` for things and nobody else. */
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
      if (protocol !== 'data:' && !origins.includes(origin)) problems.push(`asks ${request.url()}`);
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
