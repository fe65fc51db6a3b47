"""Site models: common traits of a site's pages, learned for extraction."""
