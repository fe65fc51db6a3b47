"""What the commands do. It lies beside `crawler.commands`, because Scrapy imports all of that folder at every start."""
