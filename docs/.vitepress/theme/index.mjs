import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import { searchOptions } from './search.mjs';
import TryIt from './TryIt.vue';
import './style.css';

const NotFound = h('main', { class: 'vp-doc not-found' }, [
  h('h1', 'There is no such page'),
  h('p', [h('a', { href: '/docs/' }, 'All pages'), ', or search above.']),
]);

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => NotFound }),
  enhanceApp({ app, siteData }) {
    app.component('TryIt', TryIt);
    // In the configuration they would be text that the page evaluates, which its policy refuses.
    siteData.value.themeConfig.search.options = { miniSearch: { searchOptions } };
  },
};
