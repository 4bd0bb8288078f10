import { describe, expect, it } from '@jest/globals';
import { returnLink } from './session.js';
import { limitIn } from './limit.js';

describe('the portal', () => {
  it.each(['https://backoffice.example/a?b=<c>', 'http://127.0.0.1:3000/'])('links back to %s', (url) => {
    expect(returnLink({ return_url: url })).toBe(url);
  });

  it.each([null, '', 'javascript:alert(1)', ' https://x', 'data:text/html,x', 'https://', '//evil.example'])(
    'has no link back to %j',
    (url) => {
      expect(returnLink({ return_url: url })).toBeNull();
    },
  );

  it('warns once four fifths of the rate limit are used', () => {
    expect(limitIn({ used: 79, limit: 100 }).isClose).toBe(false);
    expect(limitIn({ used: 80, limit: 100 }).isClose).toBe(true);
    expect(limitIn({ used: 5, limit: null }).isClose).toBe(false);
  });
});
