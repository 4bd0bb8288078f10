import { describe, expect, it } from '@jest/globals';
import { iconUrl } from '../../../src/contexts/exchange/application/icons.js';
import { TOKENS } from '../../../src/contexts/exchange/domain/catalog.js';
import { onTestApp } from '../../support/app.js';

const PUBLIC_URL = 'https://api.example/base/';
const test = onTestApp({ PUBLIC_URL });

describe('the icon of a token', () => {
  it.each(TOKENS.map(({ id }) => id))('%s is a picture that may be kept and can do nothing', async (id) => {
    const url = iconUrl({ publicUrl: PUBLIC_URL, host: '', port: 0 }, id);
    expect(url).toMatch(/^https:\/\/api\.example\/base\/icons\//);
    const response = await fetch(url.replace('https://api.example/base', test.url));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const svg = await response.text();
    expect(svg).toMatch(/^<svg .*<\/svg>$/s);
    expect(svg).not.toMatch(/script|href|url\(|on\w+=|<!/i);
  });

  it.each([
    'usdc.svg',
    'constructor',
    '..%2f..%2fpackage.json',
    'usdc-000000000000.svg',
    '%00',
    'a'.repeat(5000),
  ])('is not found under %j', async (name) => {
    const response = await fetch(`${test.url}/icons/${name}`);
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });
});

describe('a service whose provider is not there', () => {
  it('is ready, and says so', async () => {
    const response = await fetch(`${test.url}/health/ready`);
    expect(response.status).toBe(200);
    const { checks } = (await response.json()) as { checks: Record<string, { status: string }> };
    expect(checks['exchange']?.status).toBe('ok');
  });
});
