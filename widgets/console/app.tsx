import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'preact-iso';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { unusedMs } from '../kit/activity.js';
import { useIdleEnd, useToast } from '../kit/app.js';
import { REASON_FIELDS } from '../kit/form.js';
import { KitContext, OFTEN_MS, type Kit } from '../kit/data.js';
import { textAt, type Row } from '../kit/fields.js';
import { Frame, type NavGroup } from '../kit/frame.js';
import { AccountMenu, Mode } from '../kit/gate.js';
import { groupsOf, pagesOf } from '../kit/routes.js';
import { Loading, Trouble } from '../kit/states.js';
import { capital, spoken, visible } from '../kit/text.js';
import { span, utc } from '../kit/time.js';
import { Attention } from './attention.js';
import { Enrol, Login, placeBefore, rememberPlace, takeToken } from './login.js';
import { RESOURCES } from './resources/index.js';
import { SearchPage } from './search.js';
import {
  api,
  decisionsOf,
  operationsSince,
  scopesOf,
  signInAtProvider,
  signInByPasskey,
  signOut,
  useSession,
  verifySession,
  type ConsoleFacts,
} from './session.js';
import { System } from './system.js';

export function App({ facts }: { facts: ConsoleFacts }) {
  const queries = useQueryClient();
  const session = useSession();
  const { path, url, route } = useLocation();
  const [token] = useState(takeToken);
  const [why, setWhy] = useState<string | null>(null);
  const idleMs = facts.idle_seconds * 1000;
  const leave = useCallback((reason: string | null) => {
    setWhy(reason);
    rememberPlace(location.pathname + location.search);
    queries.setQueryData(['session'], null);
    // Removes everything that was read from memory.
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
  }, []);
  useMemo(() => {
    api.onSignedOut = () => {
      // Reads in flight at the sign-out end here too.
      if (queries.getQueryData<Row | null>(['session']))
        leave(
          unusedMs() > idleMs
            ? `You were signed out after ${span(idleMs)} without activity.`
            : 'Your session ended. Sign in to continue where you were.',
        );
    };
  }, []);
  const enter = (): void => {
    setWhy(null);
    void queries.invalidateQueries({ queryKey: ['session'] });
  };
  const isGate = path === '/login' || path === '/enrol';
  useEffect(() => {
    // The person returned from the identity provider, or signed in on its page.
    if (session.data && (path === '/login' || (path === '/' && sessionStorage.length > 0)))
      route(placeBefore(), true);
  }, [session.data, path]);

  if (path === '/enrol' || (path === '/login' && token !== null))
    return (
      <Enrol
        facts={facts}
        token={token}
        done={() => {
          enter();
          route('/login', true);
        }}
      />
    );
  if (session.isPending) return <Loading />;
  if (session.isError) return <Trouble error={session.error} retry={() => void session.refetch()} />;
  if (session.data === null) {
    if (!isGate) rememberPlace(url);
    return <Login facts={facts} done={enter} why={why} />;
  }
  return (
    <Signed
      facts={facts}
      session={session.data}
      leave={(reason) => {
        void signOut();
        leave(reason);
      }}
    />
  );
}

const NAV: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  { title: 'Money', names: ['payouts', 'orders'] },
  { title: 'People', names: ['users', 'merchants', 'credentials'] },
  { title: 'Webhooks and calls', names: ['webhook_endpoints', 'deliveries', 'requests'] },
  { title: 'Service', names: ['operations', 'operators'] },
];

function navigation(): NavGroup[] {
  const groups = groupsOf(NAV, RESOURCES);
  groups.at(-1)!.items.push({ href: '/system', label: 'System', scope: 'system:read' });
  return groups;
}

const Pages = pagesOf(
  { '/': Attention, '/search': SearchPage, '/system': System },
  RESOURCES,
  <>
    Search for the id at the top, or start with <a href="/">what needs attention</a>.
  </>,
);

interface SignedProps {
  readonly facts: ConsoleFacts;
  readonly session: Row;
  readonly leave: (why: string | null) => void;
}

function Signed({ facts, session, leave }: SignedProps) {
  const queries = useQueryClient();
  const [toast, say] = useToast();
  const scopes = scopesOf(session).join(' ');
  const decisions = decisionsOf(session).join(' ');
  const me = textAt(session, 'operator.id');
  const readOnly =
    session['read_only'] === true ? 'This console is read only: nothing can be changed here.' : null;
  const kit = useMemo((): Kit => {
    const [held, decided] = [new Set(scopes.split(' ')), new Set(decisions.split(' '))];
    const signInAgain = async (): Promise<void> => {
      if (facts.oidc) return signInAtProvider(location.pathname + location.search);
      await signInByPasskey();
      await queries.invalidateQueries({ queryKey: ['session'] });
    };
    return {
      client: api,
      brand: 'Disburse console',
      queries,
      me,
      can: (scope) => held.has(scope),
      mayDecide: (operation) => decided.has(operation),
      readOnly,
      also: REASON_FIELDS,
      say,
      signInAgain,
      changesSince: held.has('operations:read') ? operationsSince : async () => [],
      every: OFTEN_MS,
    };
  }, [scopes, decisions, me, readOnly, facts.oidc]);
  useIdleEnd(facts.idle_seconds * 1000, verifySession);
  const name = visible(textAt(session, 'operator.name'));
  const role = capital(spoken(textAt(session, 'operator.role')));
  const rows = [
    `${role}, ${visible(textAt(session, 'operator.email'))}`,
    `Until ${utc(textAt(session, 'expires_at'))} UTC`,
  ];
  return (
    <KitContext.Provider value={kit}>
      <Frame
        brand={kit.brand}
        nav={navigation()}
        can={kit.can}
        badge={<Mode mode={facts.mode} />}
        search={{ placeholder: 'Id, phone number, wallet, hash or request id' }}
        person={{ name, menu: <AccountMenu rows={rows} leave={() => leave(null)} /> }}
        toast={toast}
        banner={readOnly}
      >
        <Pages />
      </Frame>
    </KitContext.Provider>
  );
}
