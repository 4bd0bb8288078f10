import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'preact-iso';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { unusedMs } from '../kit/activity.js';
import { useIdleEnd, useToast } from '../kit/app.js';
import { KitContext, type Kit } from '../kit/data.js';
import { textAt, type Row } from '../kit/fields.js';
import { Frame, type NavGroup } from '../kit/frame.js';
import { AccountMenu, Mode } from '../kit/gate.js';
import { groupsOf, pagesOf } from '../kit/routes.js';
import { Loading, Trouble } from '../kit/states.js';
import { visible } from '../kit/text.js';
import { utc } from '../kit/time.js';
import { Attention } from './attention.js';
import { backLabel, Closed, Enter, useCode } from './enter.js';
import { ANYONE, RESOURCES } from './resources/index.js';
import {
  api,
  BRAND,
  returnLink,
  scopesOf,
  signOut,
  useSession,
  verifyPortalSession,
  type PortalFacts,
} from './session.js';
import { Usage } from './usage.js';

/** The idle time after which the service ends a session too. */
const IDLE_MS = 60 * 60_000;

interface Left {
  readonly title: string;
  readonly text: string;
  readonly back: string | null;
}

const ENDED = 'Your session has ended';
const OPEN_AGAIN = 'Open the portal again from your back office to continue.';

export function App({ facts, code: first }: { facts: PortalFacts; code: string | null }) {
  const queries = useQueryClient();
  const { route } = useLocation();
  const [code, forget] = useCode(first);
  const session = useSession(code === null);
  const [left, setLeft] = useState<Left | null>(null);
  const leave = useCallback((title: string, text: string) => {
    setLeft({ title, text, back: returnLink(queries.getQueryData<Row | null>(['session'])) });
    // Nothing that was read stays in memory.
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
    queries.setQueryData(['session'], null);
  }, []);
  useMemo(() => {
    api.onSignedOut = () => {
      // Reads that were in flight when the person signed out end like this too.
      if (!queries.getQueryData<Row | null>(['session'])) return;
      leave(ENDED, unusedMs() > IDLE_MS ? `There was no activity for an hour. ${OPEN_AGAIN}` : OPEN_AGAIN);
    };
  }, []);
  const { mode } = facts;
  if (code !== null)
    return (
      <Enter
        key={code}
        mode={mode}
        code={code}
        done={() => {
          queries.clear();
          setLeft(null);
          forget();
          route('/', true);
        }}
        stay={() => {
          forget();
          route('/', true);
        }}
      />
    );
  if (session.isPending) return <Loading />;
  if (session.data === null || session.data === undefined) {
    if (session.isError) return <Trouble error={session.error} retry={() => void session.refetch()} />;
    const { title = 'You are not signed in', text = OPEN_AGAIN, back = null } = left ?? {};
    return (
      <Closed key={title} mode={mode} title={title} back={back}>
        {text}
      </Closed>
    );
  }
  return (
    <Inside
      mode={mode}
      session={session.data}
      leave={leave}
      quit={() => {
        void signOut();
        leave('You are signed out', 'Close this page, or open the portal again from your back office.');
      }}
    />
  );
}

const NAV: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  { title: 'Webhooks', names: ['endpoints', 'deliveries'] },
  { title: 'API', names: ['requests', 'keys'] },
  { title: 'Money', names: ['payouts', 'orders'] },
  { title: 'Your users', names: ['events'] },
  { title: 'Record', names: ['lookups'] },
];

function navigation(back: string | null): NavGroup[] {
  const groups = groupsOf(NAV, RESOURCES);
  groups[2]!.items.push({ href: '/usage', label: 'Usage', scope: 'usage:read' });
  if (back !== null) groups.push({ title: '', items: [{ href: back, label: backLabel(back) }] });
  return groups;
}

const Pages = pagesOf(
  { '/': Attention, '/usage': Usage },
  RESOURCES,
  <>
    Start with <a href="/">what needs attention</a>.
  </>,
);

interface InsideProps {
  readonly mode: string;
  readonly session: Row;
  readonly leave: (title: string, text: string) => void;
  readonly quit: () => void;
}

function Inside({ mode, session, leave, quit }: InsideProps) {
  const queries = useQueryClient();
  const [toast, say] = useToast();
  const scopes = scopesOf(session).join(' ');
  const me = textAt(session, 'actor.id');
  const until = textAt(session, 'session_expires_at');
  const isSuspended = textAt(session, 'merchant.status') === 'suspended';
  const readOnly = isSuspended ? 'This merchant is suspended: read only.' : null;
  const kit = useMemo((): Kit => {
    const held = new Set([ANYONE, ...scopes.split(' ')]);
    const can = (scope: string): boolean => held.has(scope);
    const mayDecide = (): boolean => false;
    return {
      client: api,
      brand: BRAND,
      queries,
      me,
      mayDecide,
      can,
      readOnly,
      also: [],
      say,
      signInAgain: null,
    };
  }, [scopes, me, readOnly]);
  useIdleEnd(IDLE_MS, verifyPortalSession);
  useEffect(() => {
    const ms = Date.parse(until) - Date.now();
    if (Number.isNaN(ms)) return;
    const timer = setTimeout(() => leave(ENDED, OPEN_AGAIN), Math.max(0, ms));
    return () => clearTimeout(timer);
  }, [until]);
  const back = returnLink(session);
  const merchant = visible(textAt(session, 'merchant.name'));
  const rows = [`For ${merchant}`, `Until ${utc(until)} UTC`];
  return (
    <KitContext.Provider value={kit}>
      <Frame
        brand={merchant}
        nav={navigation(back)}
        can={kit.can}
        badge={<Mode mode={mode} />}
        person={{
          name: visible(textAt(session, 'actor.name')) || 'Session',
          menu: <AccountMenu rows={rows} leave={quit} />,
        }}
        toast={toast}
        banner={readOnly}
      >
        <Pages />
      </Frame>
    </KitContext.Provider>
  );
}
